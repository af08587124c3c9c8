"""Accounts: listed, shown, changed; made and deleted in the sandbox (specification part 1, section 4.1)."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.accounts.records import Account
from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.paging import MAX_QUERY_LENGTH, Listing, read_list_query
from audiencekit.emulator.parameters import Parameters
from audiencekit.servicewords import INDUSTRIES

_LISTING: Final = Listing(sortable=("name", "created_at", "updated_at", "deleted"))


def list_accounts(call: Call) -> Answer:
    """Answer `GET /accounts`: a page of the accounts of the user."""
    parameters = Parameters(call)
    query = read_list_query(parameters, _LISTING)
    prefix = (parameters.text("q", longest=MAX_QUERY_LENGTH) or "").casefold()
    ids = parameters.words("account_ids")
    parameters.finish()

    def wanted(account: Account) -> bool:
        return account.name.casefold().startswith(prefix) and (ids is None or account.id in ids)

    page = query.page(parameters, list(call.store.accounts_of_user()), wanted)
    return success(parameters.echo, [account.document() for account in page.records], **page.members())


def show_account(call: Call) -> Answer:
    """Answer `GET /accounts/:account_id`; a deleted one with `with_deleted`."""
    parameters = Parameters(call)
    with_deleted = parameters.boolean("with_deleted")
    parameters.finish()
    if call.account.deleted and not with_deleted:
        raise call.refuse(404, "NOT_FOUND", f"Account {call.account.id} was not found", "account_id")
    return success(parameters.echo, call.account.document())


def create_account(call: Call) -> Answer:
    """Answer `POST /accounts`, in the sandbox: a list of one account, of the same business as the first."""
    parameters = Parameters(call)
    parameters.finish()
    return success(parameters.echo, [call.store.make_account(call.now).document()], next_cursor=None)


def change_account(call: Call) -> Answer:
    """Answer `PUT /accounts/:account_id`."""
    parameters = Parameters(call)
    name = parameters.text("name")
    industry_type = parameters.choice("industry_type", INDUSTRIES, "")
    parameters.finish()
    account = call.account
    account.name = name or account.name
    account.industry_type = industry_type or account.industry_type
    account.updated_at = call.now
    return success(parameters.echo, account.document())


def delete_account(call: Call) -> Answer:
    """`DELETE /accounts/:account_id`, in the sandbox. From then on the account is refused like an unknown one."""
    parameters = Parameters(call)
    parameters.finish()
    call.account.deleted, call.account.updated_at = True, call.now
    return success(parameters.echo, call.account.document())
