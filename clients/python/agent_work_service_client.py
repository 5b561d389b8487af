"""Client of the Agent Work Service, for callers and for programs inside its sandbox. It needs only httpx.

    service = AgentWorkClient("http://127.0.0.1:8787", key)
    task = service.run("refund-desk", "assess", {"order_id": "A-1"})
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, Unpack
from urllib.parse import quote

import httpx

__version__ = "0.2.0"


# Errors


class ServiceError(Exception):
    """The service refused a request. The text is the sentence of the service."""

    def __init__(self, message: str, status: int, body: Any, headers: Mapping[str, str]):
        super().__init__(message)
        self.status = status
        # The whole body of the response, which may have more fields than `error`.
        self.body = body
        # Seconds after which the service asks to try again.
        self.retry_after_s = _parse_retry_after(headers.get("retry-after"))
        # The id of the request in the log of the service.
        self.request_id = headers.get("x-request-id")


class BadRequestError(ServiceError):
    """400: a parameter or a field is missing or wrong."""


class UnauthorizedError(ServiceError):
    """401: the credential is missing, wrong or revoked."""


class ForbiddenError(ServiceError):
    """403: the role does not allow this. In the sandbox: the approval was rejected or has expired."""


class NotFoundError(ServiceError):
    """404: it does not exist, or it is outside of what the credential reaches."""


class ConflictError(ServiceError):
    """409: the request conflicts with the current state, for example a second decision."""


class TooManyRequestsError(ServiceError):
    """429: a limit was reached."""


class UnavailableError(ServiceError):
    """502, 503 and 504: the service, or a proxy before it, cannot respond now."""


class UnreachableError(Exception):
    """There was no response: the service cannot be reached, or the connection was lost."""


class TaskNotSucceededError(Exception):
    """A task of `run` ended with another status than `succeeded`."""

    def __init__(self, task: Task):
        reason = f": {task['error']['message']}" if task["error"] else ""
        super().__init__(f"task {task['id']} ended as {task['status']}{reason}")
        self.task = task


class WebhookSignatureError(Exception):
    """A webhook call was not signed with this secret, or is too old."""


_ERRORS: dict[int, type[ServiceError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    429: TooManyRequestsError,
    502: UnavailableError,
    503: UnavailableError,
    504: UnavailableError,
}


def _to_service_error(response: httpx.Response) -> ServiceError:
    try:
        body = json.loads(response.read())
    except ValueError:
        # A proxy may respond with a page instead of JSON.
        body = response.text
    message = body.get("error") if isinstance(body, dict) else None
    text = message if isinstance(message, str) else _describe_status(response)
    error_class = _ERRORS.get(response.status_code, ServiceError)
    return error_class(text, response.status_code, body, response.headers)


def _describe_status(response: httpx.Response) -> str:
    if not response.has_redirect_location:
        return f"the service returned status {response.status_code}"
    return f"the address of the service redirects to {response.headers['location']}: use its final address"


def _read_json(response: httpx.Response) -> Any:
    """The JSON value of a response, or None if it is empty."""
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError:
        raise _foreign_response("JSON", response) from None


def _foreign_response(expected: str, response: httpx.Response) -> ServiceError:
    """The error of a success that the service did not send, such as the login page of a proxy."""
    address = response.url.copy_with(path="/", query=None)
    message = f"the response is not {expected}: is {address} the address of the service?"
    return ServiceError(message, response.status_code, response.text, response.headers)


def _parse_retry_after(text: str | None) -> float | None:
    """The service sends seconds; a proxy before it may send a date."""
    if text is None:
        return None
    if text.isdecimal():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


# The client of a program that holds an API key

_FIRST_PAUSE_S = 0.5
_MAX_PAUSE_S = 10.0
_PAUSE_AFTER_EMPTY_STREAM_S = 1.0
_MAX_SILENCE_S = 300.0
_MAX_PAGE_SIZE = 200


class TaskOptions(TypedDict, total=False):
    """The fields of CreateTaskRequest that may be given by name."""

    actor: Any
    constraints: CreateTaskRequestConstraints
    tools: list[str]
    output_schema: dict[str, Any] | None
    files: list[str]
    client_id: str


class AgentWorkClient:
    """Calls the service for a program that holds an API key.

    `project` is the id or slug of a project; only a member of several projects needs it.
    `retry_for_s` is the most time that one request spends in pauses before further attempts, in seconds.
    `wait` replaces the timer between two attempts, for tests.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        project: str | None = None,
        retry_for_s: float = 60,
        wait: Callable[[float], None] = time.sleep,
    ):
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"url must be an address such as http://127.0.0.1:8787, not '{url}'")
        if not key.strip():
            raise ValueError("key must be an API key (svc_key_...)")
        headers = {"authorization": f"Bearer {key.strip()}"}
        if project is not None:
            headers["x-svc-project"] = project
        # A stream is silent while a person thinks. After this time it is opened again, because a connection that was lost
        # without a notice is silent, too.
        timeout = httpx.Timeout(30, read=_MAX_SILENCE_S)
        self._http = httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=timeout)
        self._retry_for_s = retry_for_s
        self._wait = wait

    def __enter__(self) -> AgentWorkClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def run(
        self,
        wedge: str,
        task_type: str,
        input: Any = None,
        *,
        idempotency_key: str | None = None,
        on_event: Callable[[Event], object] | None = None,
        **options: Unpack[TaskOptions],
    ) -> Task:
        """Creates a task and waits for its end. Raises a TaskNotSucceededError if it does not succeed."""
        created = self.create_task(wedge, task_type, input, idempotency_key=idempotency_key, **options)
        for event in self.follow(created["id"]):
            if on_event is not None:
                on_event(event)
        task: Task = self.call("getTask", id=created["id"])
        if task["status"] != "succeeded":
            raise TaskNotSucceededError(task)
        return task

    def create_task(
        self,
        wedge: str,
        task_type: str,
        input: Any = None,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[TaskOptions],
    ) -> Task:
        """Creates a task. A retry after a lost response returns the same task. Two calls with the same key create one task."""
        unknown = options.keys() - TaskOptions.__annotations__.keys()
        if unknown:
            raise ValueError(f"unknown option '{min(unknown)}' (options: {', '.join(TaskOptions.__annotations__)})")
        body = _given(wedge=wedge, task_type=task_type, input=input, **options)
        headers = {"idempotency-key": idempotency_key or str(uuid.uuid4())}
        task: Task = _read_json(self._send("POST", "/v1/tasks", json=body, headers=headers, is_repeatable=True))
        return task

    def follow(self, task_id: str, after: int = 0) -> Iterator[Event]:
        """The events of a task, each once and in order, until the task ends.

        A lost connection continues after the last event that was returned. `after` is the number of the last event that
        you already have. Events of a type that is newer than this client are returned too.
        """
        last = after
        path = f"/v1/tasks/{_path_part('task_id', task_id)}/events"
        while True:
            before = last
            headers = {"accept": "text/event-stream", "last-event-id": str(last)}
            response = self._send("GET", path, headers=headers, is_repeatable=True, is_stream=True)
            try:
                # 204: the task has ended, and there are no events after the last one.
                if response.status_code == 204:
                    return
                for event in _read_events(response):
                    if event["id"] <= last:
                        continue
                    last = event["id"]
                    yield event
                    if event["type"] == "task.finished":
                        return
            finally:
                response.close()
            if last == before:
                # A proxy may cut silent streams at once, and must not be asked again in a tight loop.
                self._wait(_PAUSE_AFTER_EMPTY_STREAM_S)

    def list(self, operation: str, **params: Any) -> Iterator[Any]:
        """All items of a list. Pages are read as the loop needs them; `limit` is the size of a page."""
        query = {"limit": _MAX_PAGE_SIZE, **params}
        while True:
            page = self.call(operation, **query)
            yield from page["data"]
            if page.get("next_cursor") is None:
                return
            query["cursor"] = page["next_cursor"]

    def call(self, operation: str, **params: Any) -> Any:
        """Calls an operation of the API reference by its id: `call("approveApproval", id="apr_1", body={})`."""
        if operation not in OPERATIONS:
            raise ValueError(f"unknown operation '{operation}': see /openapi.json for their ids")
        method, template = OPERATIONS[operation].split(" ")
        body = params.pop("body", None)
        in_path = re.findall(r"{(\w+)}", template)
        query = {name: value for name, value in params.items() if name not in in_path and value is not None}
        path = template.format(**{name: _path_part(name, params.get(name)) for name in in_path})
        return _read_json(self._send(method, path, params=query, json=body, is_repeatable=method in ("GET", "PUT")))

    def upload_file(self, name: str, content: bytes | str, content_type: str = "application/octet-stream") -> File:
        """Uploads a file for a task or a message."""
        headers = {"content-type": content_type}
        response = self._send("POST", "/v1/files", params={"name": name}, content=content, headers=headers)
        file: File = _read_json(response)
        return file

    def download(self, id: str) -> bytes:
        """The bytes of an artifact (`art_...`) or of an uploaded file (`file_...`)."""
        path = f"/v1/{'files' if id.startswith('file_') else 'artifacts'}/{_path_part('id', id)}"
        return self._send("GET", path, is_repeatable=True).content

    def _send(
        self, method: str, path: str, *, is_repeatable: bool = False, is_stream: bool = False, **request: Any
    ) -> httpx.Response:
        """Returns a response of status 2xx. `is_repeatable`: the service may carry the request out twice."""
        waited = 0.0
        attempt = 0
        while True:
            try:
                response = self._http.send(self._http.build_request(method, path, **request), stream=is_stream)
                if response.is_success:
                    if is_stream and not _is_event_stream(response):
                        response.read()
                        raise _foreign_response("an event stream", response)
                    return response
                error: Exception = _to_service_error(response)
                response.close()
            except httpx.TransportError as cause:
                error = UnreachableError(f"cannot reach {self._http.base_url}: {cause}")
                error.__cause__ = cause
            pause = _retry_pause(error, is_repeatable, attempt)
            if pause is None or waited + pause > self._retry_for_s:
                raise error
            self._wait(pause)
            waited += pause
            attempt += 1


def _retry_pause(error: Exception, is_repeatable: bool, attempt: int) -> float | None:
    """Seconds to wait before the next attempt, or None if there must be none."""
    is_outage = isinstance(error, UnavailableError | UnreachableError)
    # A 429 was refused before anything happened; after an outage this is not known.
    if not isinstance(error, TooManyRequestsError) and not (is_outage and is_repeatable):
        return None
    own_pause = min(_FIRST_PAUSE_S * 2.0**attempt, _MAX_PAUSE_S)
    # A `retry-after` of 0, or a date that has passed, must not make a loop without pauses and without an end.
    return max(own_pause, error.retry_after_s or 0) if isinstance(error, ServiceError) else own_pause


def _is_event_stream(response: httpx.Response) -> bool:
    # 204: there are no events.
    return response.status_code == 204 or response.headers.get("content-type", "").lower().startswith("text/event-stream")


def _read_events(response: httpx.Response) -> Iterator[Event]:
    """The events of one stream, until it ends or is lost. Frames without a number, such as comments, are left out."""
    rest = b""
    chunks = response.iter_bytes()
    while True:
        try:
            chunk = next(chunks, None)
        except httpx.TransportError:
            return
        if chunk is None:
            return
        *frames, rest = (rest + chunk).split(b"\n\n")
        for frame in frames:
            data = next((line[6:] for line in frame.split(b"\n") if line.startswith(b"data: ")), None)
            event: Any = json.loads(data) if data else {}
            if isinstance(event.get("id"), int):
                yield event


def _path_part(name: str, value: object) -> str:
    """A value as one part of a path. Some values would lead to another path, and are refused."""
    text = str(value) if isinstance(value, str | int) else ""
    if text in ("", ".", ".."):
        raise ValueError(f"parameter '{name}' must be a text that is not empty, '.' or '..'")
    return quote(text, safe="")


# Webhooks


class WebhookEvent(TypedDict):
    """The body of a webhook call. It names an object only; read the object with your API key."""

    id: str
    type: str
    created_at: str
    data: dict[str, str]


def verify_webhook(
    secret: str,
    headers: Mapping[str, str],
    raw_body: bytes | str,
    *,
    tolerance_s: float = 300,
    now: Callable[[], float] = time.time,
) -> WebhookEvent:
    """Returns the event of a webhook call that the service has signed with this secret.

    Raises a WebhookSignatureError for every other call. `raw_body` must be the bytes as they arrived.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    id, sent_at, signatures = (lower.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not id or not sent_at or not signatures:
        raise WebhookSignatureError("the call has no webhook headers")
    if not sent_at.isascii() or not sent_at.isdigit() or abs(now() - int(sent_at)) > tolerance_s:
        raise WebhookSignatureError("the call is too old, or the clocks differ")
    body = raw_body.encode() if isinstance(raw_body, str) else raw_body
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if not key:
        raise WebhookSignatureError("the secret is not one of a webhook (whsec_...)")
    digest = hmac.new(key, f"{id}.{sent_at}.".encode() + body, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    # While a secret is replaced, the service sends one signature for each of the two secrets.
    if not any(hmac.compare_digest(expected, one.encode(errors="replace")) for one in signatures.split(" ")):
        raise WebhookSignatureError("the signature does not fit this secret")
    event: WebhookEvent = json.loads(body)
    return event


# Programs inside the sandbox


class ActionResult(TypedDict):
    """With `revise`, a person sent the request back, nothing was sent, and `note` says what to change."""

    ok: bool
    approval_id: NotRequired[str]
    status: NotRequired[int]
    result: NotRequired[Any]
    # What was sent, which differs from the request if `edited` is true.
    payload: NotRequired[Any]
    edited: NotRequired[bool]
    revise: NotRequired[bool]
    note: NotRequired[str]


class ReadResult(TypedDict):
    ok: bool
    status: int
    content_type: str
    body: Any


class Answer(TypedDict):
    # False if the person declined.
    answered: bool
    answer: Any
    answered_by: NotRequired[str]
    approval_id: str


class StoredRecord(TypedDict):
    collection: str
    key: str
    value: Any
    version: int


class Sandbox:
    """The service as a program inside the sandbox sees it.

    `Sandbox()` reads the brief from stdin; create it once, at the start of the program. Requests that need a person
    wait as long as the person takes.
    """

    def __init__(self, brief: dict[str, Any] | None = None):
        self.brief: dict[str, Any] = _read_brief() if brief is None else brief
        self.records = Records(self)
        service = self.brief["service"]
        # SVC_BASE_URL is a port inside of the sandbox that leads to the same place as the socket.
        base_url = os.environ.get("SVC_BASE_URL")
        uds = None if base_url else service["socket"]
        transport = httpx.HTTPTransport(uds=uds)
        self._http = httpx.Client(base_url=base_url or service["base_url"], transport=transport, timeout=None)

    def act(self, capability: str, payload: Any, *, connection: str | None = None) -> ActionResult:
        """Uses a connection, after its approval."""
        path = f"actions/{_path_part('capability', capability)}"
        result: ActionResult = self.request("POST", path, _given(payload=payload, connection=connection))
        return result

    def read(
        self, capability: str, path: str | None = None, *, arguments: Any = None, connection: str | None = None
    ) -> ReadResult:
        """Reads from a connection, without approval: a relative `path`, or the `arguments` of a named tool."""
        body = _given(path=path, arguments=arguments, connection=connection)
        result: ReadResult = self.request("POST", f"reads/{_path_part('capability', capability)}", body)
        return result

    def ask(
        self,
        question: str,
        *,
        options: list[str] | None = None,
        schema: dict[str, Any] | None = None,
        to: Literal["team", "client"] = "team",
    ) -> Answer:
        """Asks a person and waits for the answer: `answered` is false if the person declined."""
        body = _given(question=question, options=options, schema=schema, to=to)
        answer: Answer = self.request("POST", "ask", body)
        return answer

    def gate(self, tool: str, input: Any) -> str:
        """Waits for the approval of an own tool. A ConflictError means that a person sent it back with a note."""
        token = self.brief["service"]["gate_token"]
        decision: str = self.request("POST", "gate", {"tool": tool, "input": input}, token=token)["decision"]
        return decision

    def workflow(self, name: str, args: Any) -> Any:
        """Runs a workflow of the wedge and writes it to the log. Passes the gate first if its name asks for it."""
        if any(pattern and pattern.lower() in name.lower() for pattern in self.brief["gate_patterns"]):
            self.gate(name, args)
        call = {"call_id": str(uuid.uuid4()), "tool": name}
        self._event("tool.called", {**call, "input": args})
        try:
            result = self.request("POST", f"workflows/{_path_part('name', name)}", {"args": args})["result"]
        except Exception as error:
            self._event("tool.result", {**call, "ok": False, "error": str(error)})
            raise
        self._event("tool.result", {**call, "ok": True, "output": result})
        return result

    def progress(self, text: str) -> None:
        """Writes a note to the log of the task. Clients can read it."""
        self._event("progress", {"text": text})

    def artifact(self, name: str, content: bytes | str, content_type: str = "application/octet-stream") -> None:
        """Delivers a file. A client sees it only if its name begins with `client/`."""
        data = content.encode() if isinstance(content, str) else content
        file = {"name": name, "content_type": content_type, "content_base64": base64.b64encode(data).decode()}
        _write_line({"artifact": file})

    def checkpoint(self, value: Any) -> None:
        """Stores what the program needs to continue in another process."""
        _write_line({"checkpoint": value})

    def finish(self, output: Any) -> None:
        """Ends the task with its output. The program then has two seconds to exit."""
        _write_line({"output": output})

    def fail(self, message: str) -> None:
        """Ends the task as failed."""
        _write_line({"error": message})

    def request(self, method: str, path: str, body: Any = None, *, token: str | None = None, **query: Any) -> Any:
        """A request to a route below `/v1/internal/` that has no method here."""
        headers = {"authorization": f"Bearer {token or self.brief['service']['task_token']}"}
        try:
            response = self._http.request(method, f"/v1/internal/{path}", json=body, params=query, headers=headers)
        except httpx.TransportError as error:
            raise UnreachableError(f"cannot reach the service: {error}") from error
        if not response.is_success:
            raise _to_service_error(response)
        return _read_json(response)

    def _event(self, event: str, data: Any) -> None:
        _write_line({"event": event, "data": data})


class Records:
    """The records of the wedge, which stay between runs."""

    def __init__(self, sandbox: Sandbox):
        self._sandbox = sandbox

    def get(self, collection: str, key: str) -> StoredRecord:
        record: StoredRecord = self._sandbox.request("GET", _record_path(collection, key))
        return record

    def put(self, collection: str, key: str, value: Any) -> StoredRecord:
        record: StoredRecord = self._sandbox.request("POST", _record_path(collection, key), {"value": value})
        return record

    def delete(self, collection: str, key: str) -> None:
        self._sandbox.request("DELETE", _record_path(collection, key))

    def list(self, collection: str, where: dict[str, Any] | None = None) -> Iterator[StoredRecord]:
        query = {} if where is None else {"where": json.dumps(where)}
        while True:
            page = self._sandbox.request("GET", f"records/{_path_part('collection', collection)}", **query)
            yield from page["data"]
            if page["next_cursor"] is None:
                return
            query["cursor"] = page["next_cursor"]


def _record_path(collection: str, key: str) -> str:
    return f"records/{_path_part('collection', collection)}/{_path_part('key', key)}"


def _read_brief() -> Any:
    line = sys.stdin.readline()
    if not line:
        raise RuntimeError("there is no brief on stdin: the service must start this program")
    return json.loads(line)


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _write_line(line: Any) -> None:
    """Each line on stdout is one message to the service."""
    print(json.dumps(line), flush=True)


# --- Generated from /openapi.json by `npm run api-types`. Do not edit. ---


class ActionAmount(TypedDict):
    # In major units: 50 is $50.00. Null: `text` says why.
    value: float | None
    # ISO 4217, in upper case.
    currency: str | None
    # Such as "$50.00", or what is wrong with the amount.
    text: str
    # The field of the payload that states the amount.
    path: str
    unit: Literal["major", "minor"]
    currency_path: str | None


class ApprovalAssignee(TypedDict):
    id: str
    name: str


class Approval(TypedDict):
    approval_id: str
    task_id: str
    project_id: str
    wedge: str
    task_type: str
    action: str
    risk: str
    # Any JSON value.
    preview: Any
    # What an action of a named tool does, such as "stripe: create a refund of $50.00".
    text: str | None
    # The amount, if the tool declares where it is. Of an edited payload: the edited amount, also while the edit is held.
    amount: ActionAmount | None
    payload_sha256: str
    allowed_decisions: list[Literal["approve", "edit", "reject", "revise"]]
    status: Literal["pending", "auto_approved", "approved", "rejected", "expired"]
    # A question is answered by approve with `edited: {answer}`.
    path: Literal["action", "tool", "question"]
    # Who is asked a question; null for other approvals.
    to: Literal["team", "client"] | None
    connection: str | None
    connection_id: str | None
    # Why a rule approved the request, or why it needs a decision.
    policy_reason: str | None
    policy_rule: dict[str, Any] | None
    edited: dict[str, Any] | None
    reason: str | None
    # A person sent the rejected request back with `reason` as a note, and the task continues.
    revise: bool
    note: str | None
    created_at: str
    expires_at: str | None
    decided_at: str | None
    decided_by: NamedActor | None
    context: ApprovalContext
    # How many people must approve the same payload.
    needed: int
    # Who has approved the current payload, if several people must. An edit removes them.
    votes: list[ApprovalVote]
    # Roles, members and `client`, the client of the task, who may decide; null: every operator, admin and owner.
    approvers: list[str] | None
    # Who started the task (`context.requested_by`) may not decide.
    exclude_requester: bool
    # When more people were asked, because nobody decided.
    escalated_at: str | None
    # The member who is asked to decide.
    assignee: ApprovalAssignee | None
    comment_count: int
    # How many seconds the buttons of the service hold an approval, so that it can be withdrawn; 0: none.
    hold_s: int
    # An approval that its person can still withdraw. No other decision is possible meanwhile.
    held: HeldApproval | None
    # Of a pending request: the last approval that was held and could not be made.
    dropped: DroppedApproval | None


class ApprovalContextClient(TypedDict):
    id: str
    name: str | None


ApprovalContextMessage = TypedDict(
    "ApprovalContextMessage",
    {
        "id": "str",
        "body": "str",
        "at": "str",
        "from": "MessageSender | None",
        "unverified": "bool",
    },
)


class ApprovalContext(TypedDict):
    # The customer that the task works for.
    client: ApprovalContextClient | None
    thread_id: str | None
    # The first 4000 characters of the customer's message that started the task, else of the newest one before the approval.
    message: ApprovalContextMessage | None
    case_id: str | None
    # Who started the task; null for old tasks.
    requested_by: NamedActor | None


class ApprovalRequestedEventData(TypedDict):
    approval_id: str
    action: str
    risk: str
    # Who is asked a question. Only questions have it.
    to: NotRequired[Literal["team", "client"]]
    # The client of the task may decide about this request, which is no question.
    asks_client: NotRequired[Literal[True]]
    # The connection that the action would use, if any.
    connection: NotRequired[str]
    # Any JSON value.
    preview: Any
    # What an action of a named tool does, in one line.
    text: NotRequired[str | None]
    # As in the approval.
    amount: NotRequired[dict[str, Any] | None]
    expires_at: str


class ApprovalRequestedEvent(TypedDict):
    # The same as `seq`.
    id: int
    task_id: str
    # Counts from 1 in each task, without gaps.
    seq: int
    type: Literal["approval.requested"]
    ts: str
    data: ApprovalRequestedEventData


class ApprovalResolvedEventData(TypedDict):
    approval_id: str
    action: str
    decision: Literal["approved", "rejected", "auto_approved"]
    policy_reason: NotRequired[str]
    # Any JSON object.
    decided_by: NotRequired[dict[str, Any]]
    edited: NotRequired[bool]
    revise: NotRequired[bool]
    # Who is asked a question. Only questions have it.
    to: NotRequired[Literal["team", "client"]]
    # The client of the task may decide about this request, which is no question.
    asks_client: NotRequired[Literal[True]]


class ApprovalResolvedEvent(TypedDict):
    # The same as `seq`.
    id: int
    task_id: str
    # Counts from 1 in each task, without gaps.
    seq: int
    type: Literal["approval.resolved"]
    ts: str
    data: ApprovalResolvedEventData


class ApprovalVote(TypedDict):
    by: NamedActor
    at: str


class Artifact(TypedDict):
    id: str
    name: str
    content_type: str
    size: float


class ArtifactCreatedEventData(TypedDict):
    artifact_id: str
    name: str
    content_type: str
    # Bytes.
    size: int
    url: str


class ArtifactCreatedEvent(TypedDict):
    # The same as `seq`.
    id: int
    task_id: str
    # Counts from 1 in each task, without gaps.
    seq: int
    type: Literal["artifact.created"]
    ts: str
    data: ArtifactCreatedEventData


class CostChargedEventData(TypedDict):
    provider: NotRequired[str]
    model: str
    # The model that wrote the reply, as the provider says.
    response_model: NotRequired[str]
    # Why the model stopped, in the words of the provider.
    finish_reason: NotRequired[str]
    streamed: NotRequired[bool]
    # Includes the tokens of the cache.
    input_tokens: int
    cache_read_tokens: NotRequired[int]
    cache_write_tokens: NotRequired[int]
    output_tokens: int
    # From the request of the agent to the end of the reply.
    duration_ms: NotRequired[float]
    cost_usd: float
    total_usd: float
    # The model has no known price.
    unpriced: NotRequired[bool]


class CostChargedEvent(TypedDict):
    # The same as `seq`.
    id: int
    task_id: str
    # Counts from 1 in each task, without gaps.
    seq: int
    type: Literal["cost.charged"]
    ts: str
    data: CostChargedEventData


class CreateTaskRequestConstraints(TypedDict):
    max_runtime_s: NotRequired[float]
    max_cost_usd: NotRequired[float]
    approval_required: NotRequired[bool]


class CreateTaskRequest(TypedDict):
    wedge: str
    task_type: str
    # Any JSON value.
    input: NotRequired[Any]
    # Any JSON value.
    actor: NotRequired[Any]
    constraints: NotRequired[CreateTaskRequestConstraints]
    tools: NotRequired[list[str]]
    output_schema: NotRequired[dict[str, Any] | None]
    # Ids of files that were uploaded before.
    files: NotRequired[list[str]]
    # The client for whom the task is. The task is erased with it.
    client_id: NotRequired[str | None]


class DroppedApproval(TypedDict):
    by: NamedActor
    at: str
    reason: str


Event: TypeAlias = "TaskCreatedEvent | StepStartedEvent | ToolCalledEvent | ToolResultEvent | ProgressEvent | TokenDeltaEvent | ApprovalRequestedEvent | ApprovalResolvedEvent | OutputValidatedEvent | ArtifactCreatedEvent | CostChargedEvent | FeedbackRecordedEvent | TaskFinishedEvent"


class FeedbackRecordedEventData(TypedDict):
    source: Literal["approval", "task"]
    knowledge_id: str | None
    # Any JSON value.
    rating: NotRequired[Any]
    note: NotRequired[str]


class FeedbackRecordedEvent(TypedDict):
    # The same as `seq`.
    id: int
    task_id: str
    # Counts from 1 in each task, without gaps.
    seq: int
    type: Literal["feedback.recorded"]
    ts: str
    data: FeedbackRecordedEventData


class File(TypedDict):
    id: str
    name: str
    content_type: str
    size: int
    sha256: str
    created_at: str


class HeldApproval(TypedDict):
    decision: Literal["approved"]
    by: NamedActor
    # When the approval is made. `by` can withdraw it before.
    until: str
    # All fields that differ from `preview` when it is sent; null: it edits nothing.
    edited: dict[str, Any] | None


class MessageSender(TypedDict):
    handle: str | None
    name: str | None


class NamedActor(TypedDict):
    kind: str
    id: str
    name: str | None


class OutputValidatedEventDataErrorsItem(TypedDict):
    path: str
    message: str


class OutputValidatedEventData(TypedDict):
    ok: bool
    errors: list[OutputValidatedEventDataErrorsItem]


class OutputValidatedEvent(TypedDict):
    # The same as `seq`.
    id: int
    task_id: str
    # Counts from 1 in each task, without gaps.
    seq: int
    type: Literal["output.validated"]
    ts: str
    data: OutputValidatedEventData


class ProgressEventData(TypedDict):
    text: str
    # The run left its process, continues in another one, or continues with another model; or a step needs no approval, because the reply after it needs one.
    state: NotRequired[Literal["parked", "resumed", "model_switched", "approval_left_out"]]
    # With `model_switched`: the model that the run now uses.
    model: NotRequired[str]
    # Only in the stream of a client: the question to the client that was asked or decided.
    question_id: NotRequired[str]


class ProgressEvent(TypedDict):
    # The same as `seq`.
    id: int
    task_id: str
    # Counts from 1 in each task, without gaps.
    seq: int
    type: Literal["progress"]
    ts: str
    data: ProgressEventData


class StepStartedEventData(TypedDict):
    # Any JSON value.
    step: Any
    # Any JSON value.
    label: Any


class StepStartedEvent(TypedDict):
    # The same as `seq`.
    id: int
    task_id: str
    # Counts from 1 in each task, without gaps.
    seq: int
    type: Literal["step.started"]
    ts: str
    data: StepStartedEventData


class TaskConstraints(TypedDict):
    max_runtime_s: float
    max_cost_usd: float
    approval_required: bool


class TaskError(TypedDict):
    reason: str
    message: str


class Task(TypedDict):
    id: str
    project_id: str
    wedge: str
    task_type: str
    status: Literal["queued", "provisioning", "running", "awaiting_approval", "succeeded", "failed", "rejected", "expired", "cancelled"]
    # Why a queued task waits, if it is not for a free slot.
    queue_reason: str | None
    waiting_for: WaitingFor | None
    # Any JSON value.
    input: Any
    # Any JSON value.
    actor: Any
    constraints: TaskConstraints
    tools: list[str]
    output_schema: dict[str, Any] | None
    # Any JSON value.
    output: Any
    error: TaskError | None
    cost_usd: float
    artifacts: list[Artifact]
    # The files that the task was given.
    files: list[File]
    client_id: str | None
    thread_id: str | None
    channel_id: str | None
    case_id: str | None
    schedule_id: str | None
    retry_of: str | None
    last_event_id: int
    created_at: str
    started_at: str | None
    finished_at: str | None
    # When retention removed its events and files.
    log_pruned_at: str | None


class TaskCreatedEventData(TypedDict):
    wedge: str
    task_type: str
    status: Literal["running"]
    sandbox: str
    model: str


class TaskCreatedEvent(TypedDict):
    # The same as `seq`.
    id: int
    task_id: str
    # Counts from 1 in each task, without gaps.
    seq: int
    type: Literal["task.created"]
    ts: str
    data: TaskCreatedEventData


class TaskFinishedEventDataError(TypedDict):
    reason: str
    message: str


class TaskFinishedEventData(TypedDict):
    status: Literal["succeeded", "failed", "rejected", "expired", "cancelled"]
    error: NotRequired[TaskFinishedEventDataError]
    duration_ms: float


class TaskFinishedEvent(TypedDict):
    # The same as `seq`.
    id: int
    task_id: str
    # Counts from 1 in each task, without gaps.
    seq: int
    type: Literal["task.finished"]
    ts: str
    data: TaskFinishedEventData


class TokenDeltaEventData(TypedDict):
    text: str


class TokenDeltaEvent(TypedDict):
    # The same as `seq`.
    id: int
    task_id: str
    # Counts from 1 in each task, without gaps.
    seq: int
    type: Literal["token.delta"]
    ts: str
    data: TokenDeltaEventData


class ToolCalledEventData(TypedDict):
    call_id: str
    tool: str
    # Any JSON value.
    input: Any
    truncated: NotRequired[Literal[True]]


class ToolCalledEvent(TypedDict):
    # The same as `seq`.
    id: int
    task_id: str
    # Counts from 1 in each task, without gaps.
    seq: int
    type: Literal["tool.called"]
    ts: str
    data: ToolCalledEventData


class ToolResultEventData(TypedDict):
    call_id: str
    tool: str
    ok: bool
    # Any JSON value.
    output: NotRequired[Any]
    # Any JSON value.
    error: NotRequired[Any]
    truncated: NotRequired[Literal[True]]


class ToolResultEvent(TypedDict):
    # The same as `seq`.
    id: int
    task_id: str
    # Counts from 1 in each task, without gaps.
    seq: int
    type: Literal["tool.result"]
    ts: str
    data: ToolResultEventData


class WaitingFor(TypedDict):
    kind: Literal["thread", "capacity", "runner"]
    # The thread that the task waits for.
    id: NotRequired[str]


OPERATIONS = {
    "activateBlueprint": "POST /v1/blueprints/{slug}/activate",
    "answerIntakeQuestion": "POST /v1/wedges/{wedge}/intake/{question}",
    "approveApproval": "POST /v1/approvals/{id}/approve",
    "cancelTask": "POST /v1/tasks/{id}/cancel",
    "changePassword": "POST /v1/auth/password",
    "confirmNotificationLink": "POST /v1/me/notifications/confirm",
    "connectAccount": "POST /v1/connections/{id}/broker/connect",
    "connectToolkit": "POST /v1/broker/toolkits/{toolkit}/connect",
    "createApprovalComment": "POST /v1/approvals/{id}/comments",
    "createCase": "POST /v1/cases",
    "createCaseTask": "POST /v1/cases/{id}/tasks",
    "createChannel": "POST /v1/channels",
    "createClient": "POST /v1/clients",
    "createConnection": "POST /v1/connections",
    "createKey": "POST /v1/keys",
    "createKnowledge": "POST /v1/wedges/{wedge}/knowledge",
    "createMcpAuthorisation": "POST /v1/mcp-authorisations",
    "createNotificationLink": "POST /v1/me/notifications/links",
    "createPortalLink": "POST /v1/clients/{id}/portal-link",
    "createProject": "POST /v1/projects",
    "createSchedule": "POST /v1/schedules",
    "createTask": "POST /v1/tasks",
    "createTaskFeedback": "POST /v1/tasks/{id}/feedback",
    "createThreadMessage": "POST /v1/threads/{id}/messages",
    "createWebhook": "POST /v1/webhooks",
    "deleteChannel": "DELETE /v1/channels/{id}",
    "deleteConnection": "DELETE /v1/connections/{id}",
    "deleteFile": "DELETE /v1/files/{id}",
    "deleteHeldApproval": "DELETE /v1/approvals/{id}/held",
    "deleteKey": "DELETE /v1/keys/{id}",
    "deleteKnowledge": "DELETE /v1/knowledge/{id}",
    "deleteMcpAuthorisation": "DELETE /v1/mcp-authorisations/{id}",
    "deleteMember": "DELETE /v1/members/{id}",
    "deleteNotificationLink": "DELETE /v1/me/notifications/links/{kind}",
    "deleteNotifier": "DELETE /v1/notifiers/{kind}",
    "deletePolicy": "DELETE /v1/wedges/{wedge}/policy",
    "deleteRecord": "DELETE /v1/records/{id}",
    "deleteSchedule": "DELETE /v1/schedules/{id}",
    "deleteWebhook": "DELETE /v1/webhooks/{id}",
    "dismissIntakeQuestion": "POST /v1/wedges/{wedge}/intake/{question}/dismiss",
    "eraseClient": "POST /v1/clients/{id}/erase",
    "getAccountStatus": "GET /v1/connections/{id}/broker/status",
    "getAnalytics": "GET /v1/analytics",
    "getApproval": "GET /v1/approvals/{id}",
    "getBlueprintReadiness": "GET /v1/blueprints/{slug}/readiness",
    "getBrand": "GET /v1/brand",
    "getCase": "GET /v1/cases/{id}",
    "getChannel": "GET /v1/channels/{id}",
    "getClient": "GET /v1/clients/{id}",
    "getConnection": "GET /v1/connections/{id}",
    "getConnectionHealth": "GET /v1/connections/{id}/health",
    "getFileMeta": "GET /v1/files/{id}/meta",
    "getIntake": "GET /v1/wedges/{wedge}/intake",
    "getKey": "GET /v1/keys/{id}",
    "getKnowledge": "GET /v1/knowledge/{id}",
    "getMcpConsent": "GET /v1/mcp-oauth/consent",
    "getMember": "GET /v1/members/{id}",
    "getMeta": "GET /v1/meta",
    "getMyNotifications": "GET /v1/me/notifications",
    "getNeedsYou": "GET /v1/needs-you",
    "getNotificationSettings": "GET /v1/notification-settings",
    "getPolicy": "GET /v1/wedges/{wedge}/policy",
    "getProject": "GET /v1/projects/{id}",
    "getRecord": "GET /v1/records/{id}",
    "getSchedule": "GET /v1/schedules/{id}",
    "getTask": "GET /v1/tasks/{id}",
    "getTaskTrace": "GET /v1/tasks/{id}/trace",
    "getThread": "GET /v1/threads/{id}",
    "getWebhook": "GET /v1/webhooks/{id}",
    "getWedge": "GET /v1/wedges/{wedge}",
    "inviteMember": "POST /v1/members",
    "listApprovalComments": "GET /v1/approvals/{id}/comments",
    "listApprovals": "GET /v1/approvals",
    "listAuditEntries": "GET /v1/audit",
    "listBlueprints": "GET /v1/blueprints",
    "listCaseFiles": "GET /v1/cases/{id}/files",
    "listCases": "GET /v1/cases",
    "listChannelAdapters": "GET /v1/channel-adapters",
    "listChannels": "GET /v1/channels",
    "listClients": "GET /v1/clients",
    "listConnectionTools": "GET /v1/connections/{id}/tools",
    "listConnections": "GET /v1/connections",
    "listFiles": "GET /v1/files",
    "listKeys": "GET /v1/keys",
    "listKnowledge": "GET /v1/wedges/{wedge}/knowledge",
    "listKnowledgeRevisions": "GET /v1/knowledge/{id}/revisions",
    "listMcpAuthorisations": "GET /v1/mcp-authorisations",
    "listMembers": "GET /v1/members",
    "listNotifiers": "GET /v1/notifiers",
    "listPresets": "GET /v1/presets",
    "listProjects": "GET /v1/projects",
    "listRecords": "GET /v1/records",
    "listSchedules": "GET /v1/schedules",
    "listSuggestions": "GET /v1/wedges/{wedge}/suggestions",
    "listTaskActions": "GET /v1/tasks/{id}/actions",
    "listTasks": "GET /v1/tasks",
    "listThreads": "GET /v1/threads",
    "listToolkits": "GET /v1/broker/toolkits",
    "listWebhookDeliveries": "GET /v1/webhooks/{id}/deliveries",
    "listWebhooks": "GET /v1/webhooks",
    "listWedges": "GET /v1/wedges",
    "provisionBlueprint": "POST /v1/blueprints/{slug}/provision",
    "receiveMessage": "POST /v1/channels/{id}/inbound",
    "redeliverWebhook": "POST /v1/webhooks/{id}/deliveries/{delivery}/redeliver",
    "refreshConnectionTools": "POST /v1/connections/{id}/tools/refresh",
    "rejectApproval": "POST /v1/approvals/{id}/reject",
    "retryTask": "POST /v1/tasks/{id}/retry",
    "reviseApproval": "POST /v1/approvals/{id}/revise",
    "revokePortalAccess": "POST /v1/clients/{id}/portal-revoke",
    "rotateWebhookSecret": "POST /v1/webhooks/{id}/rotate",
    "runSchedule": "POST /v1/schedules/{id}/run",
    "saveRecord": "POST /v1/records",
    "setChannelSecret": "POST /v1/channels/{id}/secret",
    "setConnectionSecret": "POST /v1/connections/{id}/secret",
    "setNotifier": "PUT /v1/notifiers/{kind}",
    "setNotifierSecret": "POST /v1/notifiers/{kind}/secret",
    "simulatePolicy": "POST /v1/wedges/{wedge}/policy/simulate",
    "startConnectionOauth": "POST /v1/connections/{id}/oauth/start",
    "startThreadTask": "POST /v1/threads/{id}/tasks",
    "testConnection": "POST /v1/connections/{id}/test",
    "updateApproval": "PUT /v1/approvals/{id}",
    "updateBrand": "PUT /v1/brand",
    "updateCase": "PUT /v1/cases/{id}",
    "updateChannel": "PUT /v1/channels/{id}",
    "updateClient": "PUT /v1/clients/{id}",
    "updateConnection": "PUT /v1/connections/{id}",
    "updateConnectionTool": "PUT /v1/connections/{id}/tools/{name}",
    "updateKnowledge": "PUT /v1/knowledge/{id}",
    "updateMember": "PUT /v1/members/{id}",
    "updateMyNotifications": "PUT /v1/me/notifications",
    "updateNotificationSettings": "PUT /v1/notification-settings",
    "updatePolicy": "PUT /v1/wedges/{wedge}/policy",
    "updateProject": "PUT /v1/projects/{id}",
    "updateProjectWedge": "PUT /v1/projects/{id}/wedges/{wedge}",
    "updateSchedule": "PUT /v1/schedules/{id}",
    "updateThread": "PUT /v1/threads/{id}",
    "updateWebhook": "PUT /v1/webhooks/{id}",
    "verifyAudit": "GET /v1/audit/verify",
}


# --- End of the generated part. ---
