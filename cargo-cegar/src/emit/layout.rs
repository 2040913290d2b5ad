//! Expressions in the layout of rustfmt.
//!
//! A test with a device in it has several lines, and its reader may format the file. Text that is
//! generated in rustfmt's layout does not change then.

/// rustfmt's maximum widths of the fields of a structure on one line, and of the arguments of a
/// call or the elements of an array on one line.
const FIELDS: usize = 18;
const ITEMS: usize = 60;
/// rustfmt's maximum width of a line.
const LINE: usize = 100;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    /// Text that is used unchanged.
    Plain(String),
    /// `name { field: value, .. }`.
    Struct {
        /// The name of the structure.
        name: String,
        /// The fields that are written.
        fields: Vec<(String, Expr)>,
        /// Whether all other fields are zero.
        zeroed: bool,
    },
    /// `[a, b]`.
    Row(Vec<Expr>),
    /// `name(a, b)`.
    Call(String, Vec<Expr>),
}

impl Expr {
    /// Text as an expression.
    pub(super) fn plain(text: impl Into<String>) -> Expr {
        Expr::Plain(text.into())
    }

    fn flat(&self) -> String {
        match self {
            Expr::Plain(text) => text.clone(),
            Expr::Struct { name, .. } => {
                let inner = self.fields(|value| value.flat());
                if inner.is_empty() {
                    format!("{name} {{}}")
                } else {
                    format!("{name} {{ {} }}", inner.join(", "))
                }
            }
            Expr::Row(items) => format!("[{}]", flat_list(items)),
            Expr::Call(name, items) => format!("{name}({})", flat_list(items)),
        }
    }

    fn fields(&self, show: impl Fn(&Expr) -> String) -> Vec<String> {
        let Expr::Struct { fields, zeroed, .. } = self else {
            return Vec::new();
        };
        let mut all: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{name}: {}", show(value)))
            .collect();
        if *zeroed {
            all.push("..zeroed()".to_owned());
        }
        all
    }

    /// Whether the expression fits on one line if it begins at this column.
    fn is_flat(&self, column: usize) -> bool {
        let fits = column + self.flat().len() < LINE && !self.flat().contains('\n');
        fits && match self {
            Expr::Plain(_) => true,
            Expr::Struct { fields, .. } => {
                self.fields(Expr::flat).join(", ").len() <= FIELDS
                    && fields.iter().all(|(_, value)| value.is_flat(column))
            }
            Expr::Row(items) | Expr::Call(_, items) => {
                flat_list(items).len() <= ITEMS && items.iter().all(|item| item.is_flat(column))
            }
        }
    }

    /// The text of the expression in a line with this indentation.
    pub(super) fn show(&self, indent: usize) -> String {
        if self.is_flat(indent) {
            return self.flat();
        }
        let (inner, outer) = (" ".repeat(indent + 4), " ".repeat(indent));
        let block = |open: &str, lines: Vec<String>, close: &str| {
            let body: String = lines
                .iter()
                .map(|line| {
                    // No comma may follow the base of a structure expression.
                    let comma = if line.starts_with("..") { "" } else { "," };
                    format!("{inner}{line}{comma}\n")
                })
                .collect();
            format!("{open}\n{body}{outer}{close}")
        };
        let list = |items: &[Expr]| items.iter().map(|item| item.show(indent + 4)).collect();
        match self {
            Expr::Plain(text) => text.clone(),
            Expr::Struct { name, .. } => {
                let fields = self.fields(|value| value.show(indent + 4));
                block(&format!("{name} {{"), fields, "}")
            }
            Expr::Row(items) => block("[", list(items), "]"),
            // A sole argument that is a structure or an array starts on the line of the call.
            Expr::Call(name, items) => match items.split_last() {
                Some((last @ (Expr::Struct { .. } | Expr::Row(_)), [])) => {
                    format!("{name}({})", last.show(indent))
                }
                _ => block(&format!("{name}("), list(items), ")"),
            },
        }
    }
}

fn flat_list(items: &[Expr]) -> String {
    let all: Vec<String> = items.iter().map(Expr::flat).collect();
    all.join(", ")
}
