pub(super) fn read(_: &[u8]) -> super::info::ModuleInfo { super::info::ModuleInfo::new(super::info::ModuleKind::Text) }
