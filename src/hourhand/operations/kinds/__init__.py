"""Operations: the kinds, one file each."""
