//! Expressions that are laid out as rustfmt lays them out.
//!
//! A test with a device in it is several lines long, and its reader formats files. What is written
//! here stays as it is then.

/// rustfmt's widths: of a structure's fields on one line, of a call's arguments or an array's
/// elements.
const FIELDS: usize = 18;
const ITEMS: usize = 60;
/// And of a line.
const LINE: usize = 100;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    /// As it is.
    Plain(String),
    /// `name { field: value, .. }`.
    Struct {
        /// The structure.
        name: String,
        /// The fields that are said.
        fields: Vec<(String, Expr)>,
        /// Whether all others are zero.
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

    /// Whether it stays on one line that begins at this column.
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

    /// The text, where the line is indented so far.
    pub(super) fn show(&self, indent: usize) -> String {
        if self.is_flat(indent) {
            return self.flat();
        }
        let (inner, outer) = (" ".repeat(indent + 4), " ".repeat(indent));
        let block = |open: &str, lines: Vec<String>, close: &str| {
            let body: String = lines
                .iter()
                .map(|line| {
                    // Nothing may follow the base of a structure.
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
            // A last argument that is a block of its own hangs from the call.
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
