"""The types of handlers: their arguments and results."""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
    Awaitable,
    Callable,
    Dict,
    List,
    Literal,
    Optional,
    Protocol,
    TypedDict,
    TypeVar,
    Union,
    overload,
)

if TYPE_CHECKING:
    from libacp.types import v1

    from ._agents import AgentPeer, ClientSession
    from ._clients import AgentSession, ClientPeer


class NewSession(TypedDict, total=False):
    """The result of a handler for new sessions and forks: `v1.NewSessionResponse`, with all fields optional."""

    sessionId: str
    modes: Optional[v1.SessionModeState]
    configOptions: Optional[List[v1.SessionConfigOption]]
    _meta: Optional[Dict[str, Any]]


class PromptEnd(TypedDict, total=False):
    """The result of a handler for prompts: `v1.PromptResponse`, with all fields optional."""

    stopReason: v1.StopReason
    usage: Optional[v1.Usage]
    _meta: Optional[Dict[str, Any]]


class Greeting(TypedDict, total=False):
    """The result of a handler for `initialize`: fields that are merged into the default answer."""

    protocolVersion: int
    agentCapabilities: v1.AgentCapabilities
    authMethods: List[v1.AuthMethod]
    agentInfo: Optional[v1.Implementation]
    _meta: Optional[Dict[str, Any]]


Subject = TypeVar("Subject")
Params = TypeVar("Params")
Result = TypeVar("Result")
# A handler may be a coroutine function or not, and may return nothing.
Answer = Union[None, Result, Awaitable[Union[None, Result]]]

On = Callable[[Callable[[Subject, Params], Answer[Result]]], Callable[[Subject, Params], Answer[Result]]]


class OnAgent(Protocol):
    """Registers a handler for a method that clients call."""

    @overload
    def __call__(self, method: Literal["initialize"], /) -> On[
        ClientPeer, v1.InitializeRequest, Union[Greeting, v1.InitializeResponse]
    ]: ...
    @overload
    def __call__(self, method: Literal["authenticate"], /) -> On[
        ClientPeer, v1.AuthenticateRequest, v1.AuthenticateResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["logout"], /) -> On[ClientPeer, v1.LogoutRequest, v1.LogoutResponse]: ...
    @overload
    def __call__(self, method: Literal["session/new"], /) -> On[
        AgentSession, v1.NewSessionRequest, Union[NewSession, v1.NewSessionResponse]
    ]: ...
    @overload
    def __call__(self, method: Literal["session/load"], /) -> On[
        AgentSession, v1.LoadSessionRequest, v1.LoadSessionResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["session/list"], /) -> On[
        ClientPeer, v1.ListSessionsRequest, v1.ListSessionsResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["session/delete"], /) -> On[
        AgentSession, v1.DeleteSessionRequest, v1.DeleteSessionResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["session/resume"], /) -> On[
        AgentSession, v1.ResumeSessionRequest, v1.ResumeSessionResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["session/close"], /) -> On[
        AgentSession, v1.CloseSessionRequest, v1.CloseSessionResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["session/set_mode"], /) -> On[
        AgentSession, v1.SetSessionModeRequest, v1.SetSessionModeResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["session/set_config_option"], /) -> On[
        AgentSession, v1.SetSessionConfigOptionRequest, v1.SetSessionConfigOptionResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["mcp/message"], /) -> On[
        ClientPeer, Union[v1.MessageMcpRequest, v1.MessageMcpNotification], v1.MessageMcpResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["providers/list"], /) -> On[
        ClientPeer, v1.ListProvidersRequest, v1.ListProvidersResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["providers/set"], /) -> On[
        ClientPeer, v1.SetProviderRequest, v1.SetProviderResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["providers/disable"], /) -> On[
        ClientPeer, v1.DisableProviderRequest, v1.DisableProviderResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["auth/status"], /) -> On[
        ClientPeer, v1.AuthStatusRequest, v1.AuthStatusResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["session/fork"], /) -> On[
        AgentSession, v1.ForkSessionRequest, Union[NewSession, v1.ForkSessionResponse]
    ]: ...
    @overload
    def __call__(self, method: Literal["session/archive"], /) -> On[
        AgentSession, v1.ArchiveSessionRequest, v1.ArchiveSessionResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["session/unarchive"], /) -> On[
        AgentSession, v1.UnarchiveSessionRequest, v1.UnarchiveSessionResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["session/status"], /) -> On[
        AgentSession, v1.SessionStatusRequest, v1.SessionStatusResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["session/options"], /) -> On[
        AgentSession, v1.SessionOptionsRequest, v1.SessionOptionsResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["session/set_title"], /) -> On[
        AgentSession, v1.SetSessionTitleRequest, v1.SetSessionTitleResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["proxy/initialize"], /) -> On[
        ClientPeer, v1.InitializeProxyRequest, v1.InitializeProxyResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["proxy/successor"], /) -> On[
        ClientPeer, Union[v1.ProxySuccessorRequest, v1.ProxySuccessorNotification], v1.ProxySuccessorResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["nes/start"], /) -> On[
        Union[AgentSession, ClientPeer], v1.StartNesRequest, v1.StartNesResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["nes/suggest"], /) -> On[
        Union[AgentSession, ClientPeer], v1.SuggestNesRequest, v1.SuggestNesResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["nes/close"], /) -> On[
        Union[AgentSession, ClientPeer], v1.CloseNesRequest, v1.CloseNesResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["session/cancel"], /) -> On[AgentSession, v1.CancelNotification, None]: ...
    @overload
    def __call__(self, method: Literal["nes/accept"], /) -> On[
        Union[AgentSession, ClientPeer], v1.AcceptNesNotification, None
    ]: ...
    @overload
    def __call__(self, method: Literal["nes/reject"], /) -> On[
        Union[AgentSession, ClientPeer], v1.RejectNesNotification, None
    ]: ...
    @overload
    def __call__(self, method: Literal["document/didOpen"], /) -> On[
        Union[AgentSession, ClientPeer], v1.DidOpenDocumentNotification, None
    ]: ...
    @overload
    def __call__(self, method: Literal["document/didChange"], /) -> On[
        Union[AgentSession, ClientPeer], v1.DidChangeDocumentNotification, None
    ]: ...
    @overload
    def __call__(self, method: Literal["document/didClose"], /) -> On[
        Union[AgentSession, ClientPeer], v1.DidCloseDocumentNotification, None
    ]: ...
    @overload
    def __call__(self, method: Literal["document/didSave"], /) -> On[
        Union[AgentSession, ClientPeer], v1.DidSaveDocumentNotification, None
    ]: ...
    @overload
    def __call__(self, method: Literal["document/didFocus"], /) -> On[
        Union[AgentSession, ClientPeer], v1.DidFocusDocumentNotification, None
    ]: ...


class OnClient(Protocol):
    """Registers a handler for a method that agents call."""

    @overload
    def __call__(self, method: Literal["fs/write_text_file"], /) -> On[
        ClientSession, v1.WriteTextFileRequest, v1.WriteTextFileResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["fs/read_text_file"], /) -> On[
        ClientSession, v1.ReadTextFileRequest, v1.ReadTextFileResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["session/request_permission"], /) -> On[
        ClientSession, v1.RequestPermissionRequest, v1.RequestPermissionResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["terminal/create"], /) -> On[
        ClientSession, v1.CreateTerminalRequest, v1.CreateTerminalResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["terminal/output"], /) -> On[
        ClientSession, v1.TerminalOutputRequest, v1.TerminalOutputResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["terminal/release"], /) -> On[
        ClientSession, v1.ReleaseTerminalRequest, v1.ReleaseTerminalResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["terminal/wait_for_exit"], /) -> On[
        ClientSession, v1.WaitForTerminalExitRequest, v1.WaitForTerminalExitResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["terminal/kill"], /) -> On[
        ClientSession, v1.KillTerminalRequest, v1.KillTerminalResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["elicitation/create"], /) -> On[
        Union[ClientSession, AgentPeer], v1.CreateElicitationRequest, v1.CreateElicitationResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["mcp/message"], /) -> On[
        AgentPeer, Union[v1.MessageMcpRequest, v1.MessageMcpNotification], v1.MessageMcpResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["proxy/successor"], /) -> On[
        AgentPeer, Union[v1.ProxySuccessorRequest, v1.ProxySuccessorNotification], v1.ProxySuccessorResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["mcp/connect"], /) -> On[
        AgentPeer, v1.ConnectMcpRequest, v1.ConnectMcpResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["mcp/disconnect"], /) -> On[
        AgentPeer, v1.DisconnectMcpRequest, v1.DisconnectMcpResponse
    ]: ...
    @overload
    def __call__(self, method: Literal["session/update"], /) -> On[ClientSession, v1.SessionNotification, None]: ...
    @overload
    def __call__(self, method: Literal["elicitation/complete"], /) -> On[
        Union[ClientSession, AgentPeer], v1.CompleteElicitationNotification, None
    ]: ...
    @overload
    def __call__(self, method: Literal["auth/status_update"], /) -> On[
        AgentPeer, v1.AuthStatusUpdateNotification, None
    ]: ...
