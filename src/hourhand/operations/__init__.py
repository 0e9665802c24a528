"""Operations: built-in, resumable work on a data source."""
