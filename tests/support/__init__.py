"""Helpers that several tests share. On the import path of tests as `support`."""
