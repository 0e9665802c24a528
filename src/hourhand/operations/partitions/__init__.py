"""Operations: boundaries between partitions: how each dialect adds, splits and merges them."""
