"""URLs without the passwords in them."""

import pytest

from phaseline.lang.masked_urls import masked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://ann:hush@host:5432/shop?password=hush", "postgresql://…@host:5432/shop?…"),
        ("postgresql://host/shop", "postgresql://host/shop"),
        ("postgresql://ann:h/u?s@h@host/shop", "postgresql://…@host/shop"),
        ("--store=postgres:/ann:hush@host", "--store=postgres:/…@host"),
        ("ann:hush@host", "ann:…@host"),
        ("ann@host?hush", "…@host?…"),
        ("shop.yaml", "shop.yaml"),
    ],
)
def test_a_url_is_shown_without_its_secrets(text: str, shown: str) -> None:
    assert masked(text) == shown
    assert "hush" not in masked(text)
