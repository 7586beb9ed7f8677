//! SLOG2.
