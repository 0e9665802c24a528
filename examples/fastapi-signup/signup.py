"""A sign-up whose mail is submitted in the transaction that stores the person: `uvicorn signup:web`."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel
from sqlalchemy import String
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from hourhand import Client

STORE = os.environ["HOURHAND_STORE"]
"""postgresql://user:password@host/database: one database for the people and for Hourhand."""

engine = create_async_engine(STORE.replace("postgresql://", "postgresql+asyncpg://"))
client = Client(STORE)


class Base(DeclarativeBase):
    """Our tables."""


class Person(Base):
    """Somebody who signed up."""

    __tablename__ = "people"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(200), unique=True)


class SignUp(BaseModel):
    """What the form sends."""

    email: str


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    """Make the tables; close what is open at the end."""
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    async with client:
        yield
    await engine.dispose()


web = FastAPI(lifespan=lifespan)


@web.post("/people", status_code=201)
async def sign_up(given: SignUp) -> dict[str, int]:
    """Store the person and submit the mail: both are there after the commit, or neither."""
    try:
        async with AsyncSession(engine) as session, session.begin():
            session.add(Person(email=given.email))
            mail = await client.submit("send_welcome", {"email": given.email}, conn=session)
    except IntegrityError:
        raise HTTPException(409, f"{given.email} has signed up already") from None
    return {"mail": mail.id}
