pub fn files() -> std::io::Result<std::fs::ReadDir> {
    std::fs::read_dir(".")
}
