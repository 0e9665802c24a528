"""As little as Django needs."""

import os
from urllib.parse import urlsplit

STORE = os.environ["HOURHAND_STORE"]
_url = urlsplit(STORE)
DATABASES = {  # the database that Hourhand uses too
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": _url.hostname,
        "PORT": _url.port or 5432,
        "NAME": _url.path.strip("/"),
        "USER": _url.username,
        "PASSWORD": _url.password or "",
    }
}
INSTALLED_APPS = ["shop"]
ROOT_URLCONF = "shop.views"
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
SECRET_KEY = "only-for-this-example"  # noqa: S105 - nothing is signed here
