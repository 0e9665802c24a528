"""Store: the whole contract, put together from its verbs."""

from __future__ import annotations

from hourhand.store.verbs.accounts import Accounts
from hourhand.store.verbs.agenda import Agenda
from hourhand.store.verbs.alerting import Alerting
from hourhand.store.verbs.applying import Applying
from hourhand.store.verbs.auditing import Auditing
from hourhand.store.verbs.bulk import Bulk
from hourhand.store.verbs.chores import Chores
from hourhand.store.verbs.data_sources import DataSources
from hourhand.store.verbs.definitions import Definitions
from hourhand.store.verbs.demo import Demo
from hourhand.store.verbs.directory import Directory
from hourhand.store.verbs.examining import Examining
from hourhand.store.verbs.executing import Executing
from hourhand.store.verbs.explaining import Explaining
from hourhand.store.verbs.figures import Figures
from hourhand.store.verbs.hints import Hints
from hourhand.store.verbs.instances import Instances
from hourhand.store.verbs.operating import Operating
from hourhand.store.verbs.pausing import Pausing
from hourhand.store.verbs.sealing import Sealing
from hourhand.store.verbs.statistics import Statistics
from hourhand.store.verbs.time import Time
from hourhand.store.verbs.windows import Windows


class SqlStore(
    Definitions,
    Time,
    Agenda,
    Instances,
    Bulk,
    Applying,
    Executing,
    Chores,
    Directory,
    Accounts,
    Pausing,
    Windows,
    DataSources,
    Operating,
    Explaining,
    Statistics,
    Figures,
    Demo,
    Examining,
    Alerting,
    Sealing,
    Auditing,
    Hints,
):
    """The store contract on a SQL database; see `hourhand.contracts.store` for what each verb promises."""

    async def ping(self) -> None:
        await self.database.ping()

    async def close(self) -> None:
        await self._hints.close()
        await self.database.close()
