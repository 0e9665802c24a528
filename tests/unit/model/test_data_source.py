from datetime import UTC, datetime

import pytest

from hourhand.model.data_source import Address, DataSource, Dialect


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (Address(dialect=Dialect.SQLITE, database="/var/shop.db"), "sqlite:////var/shop.db"),
        (Address(dialect=Dialect.POSTGRESQL), "postgresql://localhost/"),
        (
            Address(dialect=Dialect.MARIADB, host="db", port=3306, database="shop", username="ann", password="s3cret"),  # noqa: S106
            "mariadb://ann@db:3306/shop",
        ),
    ],
)
def test_an_address_is_shown_without_its_password(address: Address, shown: str) -> None:
    assert address.shown == shown
    assert "s3cret" not in repr(address)


def test_a_data_source_with_its_password_opened_is_an_address() -> None:
    now = datetime(2026, 11, 16, tzinfo=UTC)
    source = DataSource(
        id=1, name="shop", dialect=Dialect.MYSQL, host="db", secret=b"sealed", options={"ssl": True},
        created_at=now, updated_at=now, created_by="ann",
    )  # fmt: skip
    opened = source.address("s3cret")
    assert (opened.dialect, opened.host, opened.password, opened.options) == (
        Dialect.MYSQL, "db", "s3cret", {"ssl": True},
    )  # fmt: skip
    assert "sealed" not in repr(source)
