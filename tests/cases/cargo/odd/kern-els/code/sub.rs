pub fn ten() -> u32 {
    10
}
