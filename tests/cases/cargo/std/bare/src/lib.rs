//! Always needs std.
