"""Operations: rows on their way: between servers, and into files and back."""
