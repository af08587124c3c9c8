"""The connection of type `audiencekit`: settings, a client, and the answer to the test button."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

from audiencekit.api.client import AdsClient
from audiencekit.api.opening import open_client
from audiencekit.errors import AudiencekitError, UsageError
from audiencekit.integrations.airflow.connection import CONNECTION_TYPE, LABELS, settings_from
from audiencekit.integrations.airflow.failures import describe_failure
from audiencekit.integrations.airflow.provider import HOOK_NAME, field_behaviour
from audiencekit.integrations.airflow.versions import AirflowNotFoundException, BaseHook, mask_secret, unlogged_secrets
from audiencekit.personal import Secret
from audiencekit.process.programs import own_environment
from audiencekit.settings import SECRET_NAMES, Settings
from audiencekit.state.durability import STATE, is_bucket
from audiencekit.text import shown

DEFAULT_CONNECTION = "audiencekit_default"


class AudiencekitHook(BaseHook):
    """One connection. Its secrets are hidden from the logs of the task as soon as they are read."""

    conn_name_attr = "conn_id"
    default_conn_name = DEFAULT_CONNECTION
    conn_type = CONNECTION_TYPE
    hook_name = HOOK_NAME

    def __init__(self, conn_id: str = DEFAULT_CONNECTION) -> None:
        super().__init__()
        self.conn_id = conn_id

    @contextlib.contextmanager
    def state(self, *, hold: bool) -> Iterator[None]:
        """Have the state of AUDIENCEKIT_STATE open meanwhile, if it is in a bucket. Raises as `open_state`.

        With `hold` no other task can change it.
        """
        if not is_bucket(own_environment().get(STATE, "")):
            yield
            return
        from audiencekit.mirror.opening import open_state

        with open_state(hold=hold, notify=self.log.info):
            yield

    def settings(self) -> Settings:
        """The settings for a run. Raises UsageError for a connection that is missing, or cannot be."""
        with unlogged_secrets():
            return self._read_settings()

    def _read_settings(self) -> Settings:
        connection = self._find()
        if connection.conn_type != CONNECTION_TYPE:
            raise UsageError(f"connection {self.conn_id!r} is not of type {CONNECTION_TYPE}")
        settings = settings_from(self.conn_id, connection.host, connection.extra_dejson)
        for secret in (*settings.find_credentials().secrets.values(), settings.key, settings.limiter):
            if isinstance(secret, Secret):  # a command that gives the key is run when it is needed
                mask_secret(secret.unwrap())
        return settings

    def get_conn(self) -> AdsClient:
        """A client of the ads API, to be used with `async with`. Raises what `settings` and `open_client` raise."""
        return open_client(self.settings())

    def test_connection(self) -> tuple[bool, str]:
        """Whether the account answers, and a line for people."""
        try:
            with self.state(hold=False):
                return True, asyncio.run(_describe_account(self.settings()))
        except AudiencekitError as error:
            return False, describe_failure(error)

    def _find(self) -> Any:
        missing = UsageError(
            f"there is no connection {self.conn_id!r}", hint=f"make one of type {CONNECTION_TYPE}, or name another"
        )
        try:
            return self.get_connection(self.conn_id)
        except AirflowNotFoundException:
            raise missing from None

    # Airflow up to 3.1 asks the hook for the form; later ones read it from the provider.

    @classmethod
    def get_connection_form_widgets(cls) -> dict[str, Any]:
        """The fields of the form that are ours."""
        from flask_appbuilder.fieldwidgets import BS3PasswordFieldWidget, BS3TextFieldWidget
        from wtforms import PasswordField, StringField

        return {
            name: PasswordField(label, widget=BS3PasswordFieldWidget())
            if name in SECRET_NAMES
            else StringField(label, widget=BS3TextFieldWidget())
            for name, label in LABELS.items()
        }

    @classmethod
    def get_ui_field_behaviour(cls) -> dict[str, Any]:
        """Labels and hiding of the fields that every connection has."""
        return field_behaviour("hidden_fields")


async def _describe_account(settings: Settings) -> str:
    async with open_client(settings) as client:
        account = dict((await client.get_account()).data)
    return f"account {settings.require_account()} answers: {shown(account.get('approval_status', 'no status given'))}"
