"""The mails, sent by an executor: `hourhand serve mails:app`."""

import os
import smtplib
from email.message import EmailMessage
from pathlib import Path

from hourhand import App, Context

app = App()


@app.task(max_retries=5, retry_delay_seconds=30, timeout_seconds=60)
def send_welcome(ctx: Context, email: str) -> str:
    """Send by the server that SMTP names (host:port), or into the folder `outbox` if there is none."""
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "Welcome!", "shop@example.com", email
    # The same at every attempt: a mail server that has seen it already can drop the second one.
    message["Message-ID"] = f"<{ctx.idempotency_key}@example.com>"
    message.set_content("It is good to have you here.")
    if server := os.environ.get("SMTP"):
        host, _, port = server.partition(":")
        with smtplib.SMTP(host, int(port or 25)) as smtp:
            smtp.send_message(message)
        return f"sent by {host}"
    outbox = Path("outbox")
    outbox.mkdir(exist_ok=True)
    (outbox / f"{ctx.idempotency_key}.eml").write_bytes(bytes(message))
    return "written to the outbox"
