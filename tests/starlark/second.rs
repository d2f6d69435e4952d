//! A second candidate for a root.
