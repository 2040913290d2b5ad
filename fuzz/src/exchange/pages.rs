//! The memory for LLMP's pages.
//!
//! LLMP is made for processes that share memory. Here all its users are threads of one process: the
//! broker, and a thread for each connection. LibAFL's own providers do not suit that. System V
//! segments and files in `/dev/shm` outlive a process that is killed, and a segment is mapped with
//! whatever size a message claims; two maps of one `memfd` in the same process both close its
//! descriptor. Here a page is therefore anonymous memory with a number. It is freed with its last
//! map or with the process.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use libafl_bolts::Error;
use libafl_bolts::shmem::{ShMem, ShMemId, ShMemProvider};
use memmap2::{MmapMut, MmapRaw};

static PAGES: Mutex<Option<HashMap<u32, Weak<MmapRaw>>>> = Mutex::new(None);
static NUMBER: AtomicU32 = AtomicU32::new(1);

/// A reference to a page, owned by one thread.
#[derive(Debug)]
pub(super) struct Page {
    number: u32,
    memory: Arc<MmapRaw>,
}

impl Deref for Page {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the memory is mapped for as long as `self.memory` lives. Other threads write to
        // it, as in all of LibAFL's providers: LLMP uses only the address and length of the slice,
        // and orders its own accesses.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.memory.len()) }
    }
}

impl DerefMut for Page {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr(), self.memory.len()) }
    }
}

// SAFETY: anonymous maps are page-aligned.
unsafe impl ShMem for Page {
    fn id(&self) -> ShMemId {
        ShMemId::from_string(&self.number.to_string())
    }
}

/// Creates and finds pages of this process.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages;

impl ShMemProvider for Pages {
    type ShMem = Page;

    fn new() -> Result<Self, Error> {
        Ok(Pages)
    }

    fn new_shmem(&mut self, size: usize) -> Result<Page, Error> {
        let memory = MmapMut::map_anon(size).map_err(|why| Error::os_error(why, "no memory"))?;
        let memory = Arc::new(MmapRaw::from(memory));
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut pages = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
        let pages = pages.get_or_insert_default();
        pages.retain(|_, page| page.strong_count() > 0);
        pages.insert(number, Arc::downgrade(&memory));
        Ok(Page { number, memory })
    }

    fn shmem_from_id_and_size(&mut self, id: ShMemId, size: usize) -> Result<Page, Error> {
        let digits: Vec<u8> = id.iter().copied().take_while(|&byte| byte != 0).collect();
        let number = std::str::from_utf8(&digits)
            .ok()
            .and_then(|digits| digits.parse::<u32>().ok());
        let pages = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
        number
            .and_then(|number| Some((number, pages.as_ref()?.get(&number)?.upgrade()?)))
            .filter(|(_, memory)| memory.len() == size)
            .map(|(number, memory)| Page { number, memory })
            .ok_or_else(|| Error::illegal_argument("no such page in this process"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_found_by_its_number_while_somebody_holds_it() {
        let mut pages = Pages;
        let mut first = pages.new_shmem(4096).expect("memory");
        let (id, size) = (first.id(), first.len());
        let second = pages.shmem_from_id_and_size(id, size).expect("found");
        first[7] = 42;
        assert_eq!(second[7], 42);
        drop(first);
        assert_eq!(second[7], 42);
        assert!(pages.shmem_from_id_and_size(id, size * 2).is_err());
        drop(second);
        assert!(pages.shmem_from_id_and_size(id, size).is_err());
        for strange in ["", "-1", "99999999999", "x", "4294967295"] {
            let id = ShMemId::from_string(strange);
            assert!(pages.shmem_from_id_and_size(id, size).is_err());
        }
        // Twenty bytes without a terminating NUL.
        let id = ShMemId::from_array(&[b'1'; 20]);
        assert!(pages.shmem_from_id_and_size(id, size).is_err());
    }
}
