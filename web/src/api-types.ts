// Types of requests and answers. Made by docs/generate_api.py from the routes; do not edit.

/** An expression whose value is wanted at every stop. */
export interface AddWatch {
  /** A Python expression. */
  expression: string;
}

/** A model is called. */
export interface AgentApiRequestEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "api_request";
  /** The same type. */
  type: "api_request";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The model calls of the lane so far, with this one. */
    iteration: number;
    /** How many messages the request has. */
    messageCount: number;
    /** How many messages of the lane's last request it begins with. */
    messagesKept: number;
    /** The messages that come after those. */
    messages: unknown;
    /** A key of the whole request, by which a replay finds it. */
    hash: string;
    /** The name of the model. */
    model?: string;
    /** The provider of the model. */
    provider?: string;
    /** Which agent of the process; left out for the main one. */
    lane?: string;
    /** The other arguments of the call. */
    settings?: unknown;
    /** The id of the tool that asked for it, if the loop itself did not. */
    within?: string;
    /** What was decided about the call, if it was changed. */
    decision?: unknown;
    /** The recording has this call, and gives its outcome. */
    replayed?: boolean;
  };
}

/** A model answered, or its call failed. */
export interface AgentApiResponseEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "api_response";
  /** The same type. */
  type: "api_response";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The number of the model call in its lane. */
    iteration: number;
    /** How long the call took, in milliseconds. */
    durationMs: number;
    /** Whether the call failed. */
    isError: boolean;
    /** Which agent of the process; left out for the main one. */
    lane?: string;
    /** The name of the model. */
    model?: string;
    /** How long it, or something inside it, was held, in milliseconds. */
    heldMs?: number;
    /** Why the model stopped. */
    stopReason?: unknown;
    /** The tokens: `inputTokens`, of which `cachedTokens` came from a cache, and `outputTokens`. */
    usage?: unknown;
    /** What the call cost, if its model has a price. */
    cost?: number;
    /** The content of the answer. */
    content?: unknown;
    /** The tools that the model asks for. */
    toolCalls?: unknown;
    /** Why nothing is known of the answer. */
    undescribed?: unknown;
    /** The whole answer. */
    response?: unknown;
    /** The content id of the pickle of the answer. */
    responsePickle?: string;
    /** Why the answer cannot be restored. */
    responseMarker?: string;
    /** The exception: its `type` and `message`. */
    error?: unknown;
    /** The content id of the pickle of the exception. */
    errorPickle?: string;
    /** Why the exception cannot be restored. */
    errorMarker?: string;
    /** The stream was not read to its end. */
    partial?: boolean;
    /** How the function gave it, if not at once: `awaitable`, `future`, `stream`, `async_stream`, or the first and the last of these. */
    returned?: string;
    /** The answer was given by a decision. */
    faked?: boolean;
    /** What was decided about the failure. */
    decision?: unknown;
  };
}

/** A breakpoint was hit. `paused` follows. */
export interface AgentBreakpointHitEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "breakpoint_hit";
  /** The same type. */
  type: "breakpoint_hit";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The breakpoint. */
    breakpoint: unknown;
    /** Of a tool: `id`, `name` and `input`; null otherwise. */
    toolCall: unknown;
    /** That of the model call, or of the one that asked for the tool. */
    iteration: number;
    /** The agent's own name of the hold that begins. */
    stop: string;
    /** Which agent of the process; left out for the main one. */
    lane?: string;
  };
}

/** A command as agents know them; `docs/agents.md` lists them. */
export interface AgentCommand {
  /** The command, such as `pause`, `inject` or `breakpoint`. */
  type: string;
  /** The command's own fields. */
  data?: Record<string, unknown>;
  /** The lane that is meant, as in `data`; without it every lane, or the one held. */
  lane?: string | null;
  /** How many seconds to wait for the agent's answer. */
  timeout?: number | null;
}

/** What became of a command to an agent. */
export interface AgentCommandAnswer {
  /** The id that the command was given. */
  command_id: string;
  /** The type of the command. */
  type: string;
  /** `applied`, or `accepted` for what takes effect later. */
  status: string;
  /** What the agent answered: `success`, and `data` or `message`. */
  response: Record<string, unknown> | null;
  /** Where its loop is now. */
  session: AgentStatus;
  /** What the agent said about it. */
  note?: string;
}

/** A command that was accepted took effect. */
export interface AgentCommandAppliedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "command_applied";
  /** The same type. */
  type: "command_applied";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The id of the command. */
    commandId: string;
    /** The type of the command. */
    type: string;
  };
}

/** The agent took a command. */
export interface AgentCommandExecutedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "command_executed";
  /** The same type. */
  type: "command_executed";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The id of the command. */
    commandId: string;
    /** The type of the command. */
    type: string;
    /** `applied`, `accepted` (it takes effect later) or `expired`. */
    status: string;
    /** What the agent says about it. */
    note?: string;
  };
}

/** The agent answered a command that asks for something. */
export interface AgentCommandResponseEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "command_response";
  /** The same type. */
  type: "command_response";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The id of the command. */
    commandId: string;
    /** The type of the command. */
    type: string;
    /** Whether it could be done. */
    success: boolean;
    /** Why it could not be done. */
    message?: string;
    /** What the command asked for. */
    data?: unknown;
  };
}

/** A request has fewer messages than the last one of its lane. */
export interface AgentContextCompactionEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "context_compaction";
  /** The same type. */
  type: "context_compaction";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** How many messages the last request had. */
    before: number;
    /** How many messages this one has. */
    after: number;
  };
}

/** A fork changed the conversation before its first live model call. */
export interface AgentConversationEditedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "conversation_edited";
  /** The same type. */
  type: "conversation_edited";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The call that it was changed before. */
    before: Place;
    /** All messages, as they were wanted. */
    messages?: unknown;
    /** The new system prompt. */
    system?: string;
  };
}

/** What a recording holds, counted. */
export interface AgentCounters {
  /** All events. */
  events: number;
  /** Calls of models. */
  model_calls: number;
  /** Calls of tools. */
  tool_calls: number;
  /** How often it was held. */
  holds: number;
  /** Errors that the loop or the bridge reported. */
  errors: number;
  /** Tokens that were sent to models. */
  input_tokens: number;
  /** Tokens that models answered with. */
  output_tokens: number;
  /** Of the input tokens, those that came from a provider's cache. */
  cached_tokens: number;
  /** What its model calls cost, in the unit of the prices that its process was given; null if it was given none. */
  cost: number | null;
  /** The models whose calls are not in `cost`, for want of a price. */
  unpriced_models: string[];
  /** Lines of the recording without an event. */
  unreadable_lines: number;
}

/** Where an agent's loop is after a decision. */
export interface AgentDecision {
  /** Which kind of target it is of. */
  kind: "agent";
  /** The id of the session. */
  session_id: string;
  /** Where the session is: created, launching, running, paused, waiting_for_input, terminated or failed. */
  status: string;
  /** The iteration of the lane that was the last to do something. */
  iteration: number;
  /** Its lanes; left out if not all of its recording was read yet. */
  lanes?: AgentLane[];
  /** The ids of the holds that wait for a decision. */
  holds: string[];
  /** While paused: the newest hold. */
  hold_id?: string;
  /** Why it is paused (start, pause, step, breakpoint or rule), or how it ended (exit, error, closed or crashed). */
  reason?: string | null;
  /** While paused: what waits. */
  held?: AgentStop[];
  /** It was asked to pause and has not stopped yet. */
  pause_pending?: boolean;
  /** What `pause_pending` means. */
  message?: string;
  /** The action that was decided. */
  action: string;
  /** The agent's own name of the stop that it ended. */
  stop: string;
}

/** An agent session outside the server's own directory. */
export interface AgentDirectory {
  /** The directory of the session. */
  directory: string;
}

/** Something went wrong in the loop or the bridge. A loop may add fields of its own. */
export interface AgentErrorEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "error";
  /** The same type. */
  type: "error";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** What went wrong. */
    message: string;
    /** Where: `run`, `fork`, `command_processing`, `set_variable`, `agent`, or the loop's own. */
    context: string;
    /** The id of the command that was refused. */
    commandId?: string;
    /** Of a command: `rejected`. */
    status?: string;
    /** Of a run: the class of the exception. */
    type?: string;
    /** It is only a warning. */
    warning?: boolean;
    /** Of a fork: the tools with side effects. */
    tools?: string[];
    [field: string]: unknown;
  };
}

/** An event of an agent. Its fields are in `data`. */
export type AgentEvent =
  | AgentSessionStartEvent
  | AgentSessionEndEvent
  | AgentLaneStartEvent
  | AgentRunStartEvent
  | AgentRunEndEvent
  | AgentUserInputEvent
  | AgentApiRequestEvent
  | AgentApiResponseEvent
  | AgentToolCallStartEvent
  | AgentToolResultEvent
  | AgentToolCallEndEvent
  | AgentContextCompactionEvent
  | AgentPausedEvent
  | AgentResumedEvent
  | AgentStepCompleteEvent
  | AgentBreakpointHitEvent
  | AgentStateSnapshotEvent
  | AgentCommandExecutedEvent
  | AgentCommandAppliedEvent
  | AgentCommandResponseEvent
  | AgentMessageInjectedEvent
  | AgentConversationEditedEvent
  | AgentVariableSetEvent
  | AgentValueRecordedEvent
  | AgentReplayDivergedEvent
  | AgentEventsLostEvent
  | AgentErrorEvent;

/** Events could not be written, for example because the disk was full. */
export interface AgentEventsLostEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "events_lost";
  /** The same type. */
  type: "events_lost";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** How many were lost. */
    count: number;
  };
}

/** A hold of an agent. */
export interface AgentHold {
  /** Which kind of target it is of. */
  kind: "agent";
  /** The id of the hold. */
  hold_id: string;
  /** The name that the agent itself gave it: `stop-3`. */
  stop: string;
  /** What waits: `model` and `tool` have not run, `error` has failed. */
  at?: string;
  /** The name of the tool or model. */
  name?: string;
  /** Of a tool: the id of its call. */
  toolId?: string;
  /** That of the model call, or of the one that asked for the tool. */
  iteration?: number;
  /** Which agent of the process; left out for the main one. */
  lane?: string;
  /** The breakpoint that it stopped at. */
  breakpoint?: Record<string, unknown>;
  /** The rule of the project that holds it. After its `timeout`, in seconds, it decides by itself what `onTimeout` says. */
  rule?: Record<string, unknown>;
  /** The same id as `hold_id`. */
  id: string;
  /** The session whose agent waits. */
  session_id: string;
  /** Why it waits: start, pause, step, breakpoint, rule or fork. */
  reason: string;
  /** Since when, as an ISO 8601 time in UTC. */
  opened_at: string;
  /** Always null. */
  thread_id: number | null;
  /** Always null. */
  location: Location | null;
  /** The actions that decide it. */
  allows: string[];
  /** One hold: whether it still waits for a decision. */
  open?: boolean;
  /** One hold: the tool's input, or the messages that the model call adds. */
  input?: unknown;
  /** One hold, of a failure: its `type` and `message`. */
  error?: Record<string, unknown>;
}

/** What an agent says of itself. */
export interface AgentInspection {
  /** Which kind of target it is of. */
  kind: "agent";
  /** The id of the session. */
  session_id: string;
  /** Where the session is: created, launching, running, paused, waiting_for_input, terminated or failed. */
  status: string;
  /** The iteration of the lane that was the last to do something. */
  iteration: number;
  /** Its lanes; left out if not all of its recording was read yet. */
  lanes?: AgentLane[];
  /** The ids of the holds that wait for a decision. */
  holds: string[];
  /** While paused: the newest hold. */
  hold_id?: string;
  /** Why it is paused (start, pause, step, breakpoint or rule), or how it ended (exit, error, closed or crashed). */
  reason?: string | null;
  /** While paused: what waits. */
  held?: AgentStop[];
  /** It was asked to pause and has not stopped yet. */
  pause_pending?: boolean;
  /** What `pause_pending` means. */
  message?: string;
  /** Its `lanes`, and of one `lane` the `messages`, `context`, `tools`, `variables` and `stops`, as far as they were asked for. */
  state: unknown;
}

/** One of the agents of a process. */
export interface AgentLane {
  /** Its name; `main` for one that is alone. */
  lane: string;
  /** How many model calls it has made. */
  iteration: number;
  /** How many messages its last model call had. */
  messages: number;
  /** `held`, `running`, or `idle` when it does nothing now. */
  status: string;
  /** The lane that called it. */
  parent?: string;
  /** The id of the tool inside which it began. */
  within?: string;
}

/** Another agent of the process begins, or begins again inside another tool. */
export interface AgentLaneStartEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "lane_start";
  /** The same type. */
  type: "lane_start";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** Its lane. */
    lane: string;
    /** The lane that called it. */
    parent?: string;
    /** The id of the tool inside which it begins. */
    within?: string;
  };
}

/** A message was added to the conversation by a command, a decision or a replay. */
export interface AgentMessageInjectedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "message_injected";
  /** The same type. */
  type: "message_injected";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The role of the message. */
    role: string;
    /** The content of the message. */
    content: unknown;
    /** The call that it was added before. */
    before: Place;
    /** The id of the command that added it. */
    commandId?: string;
  };
}

/** The loop is held: something waits for a decision. */
export interface AgentPausedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "paused";
  /** The same type. */
  type: "paused";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The agent's own name of the hold: `stop-3`. */
    stop: string;
    /** `start`, `pause`, `step`, `breakpoint`, `rule` or `fork`. */
    reason: string;
    /** What waits: `model` and `tool` have not run, `error` has failed. */
    at: string;
    /** That of the model call, or of the one that asked for the tool. */
    iteration: number;
    /** The actions that decide the hold. */
    allows: string[];
    /** The name of the tool or model. */
    name?: string;
    /** Which agent of the process; left out for the main one. */
    lane?: string;
    /** Of a tool: the id of its call. */
    toolId?: string;
    /** Of a tool: its arguments. Of a model: `messagesKept` and `messages`. */
    input?: unknown;
    /** Of a model: how many messages the request has. */
    messageCount?: number;
    /** Of a model: its system prompt, if that is not one of the messages. */
    system?: unknown;
    /** Of a failure: the exception. */
    error?: ErrorText;
    /** The breakpoint that it stopped at. */
    breakpoint?: unknown;
    /** The rule that holds it, with its timeout if it has one. */
    rule?: unknown;
  };
}

/** A replay cannot go on as it was recorded. */
export interface AgentReplayDivergedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "replay_diverged";
  /** The same type. */
  type: "replay_diverged";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** What is different, as a sentence. */
    message: string;
    /** What the agent asked for: `model`, `tool` or `value`. */
    kind?: string;
    /** Which agent of the process. */
    lane?: string;
    /** The name of the tool, model or value. */
    name?: string;
    /** That of the model call, or of the one that asked for the tool. */
    iteration?: number;
    /** What the recording has; null if it has no more. */
    expected?: unknown;
    /** What the agent asked for instead. */
    found?: unknown;
    /** Where the two differ. */
    difference?: unknown;
    /** Nothing differs: the recording has no more. */
    recordingEnded?: boolean;
  };
}

/** Where an agent's loop is, and what was asked of it. */
export interface AgentReport {
  /** What was asked for. */
  command: string;
  /** Where the loop is: running, paused or terminated. */
  status?: string;
  /** The session of the agent. */
  session_id?: string;
  /** The agent's name. */
  name?: string;
  /** The model that it calls. */
  model?: string;
  /** Why it is paused, or ended. */
  reason?: string;
  /** What came of the command. */
  message?: string;
  /** Its model calls so far. */
  iteration?: number;
  /** Its model calls, tools, errors and tokens in numbers. */
  totals?: string;
  /** If it has several lanes: where each is. */
  lanes?: string[];
  /** What it did last, oldest first. */
  recent?: string[];
  /** Its conversation, as `number author: text`. */
  messages?: string[];
  /** How many messages the conversation has. */
  message_count?: number;
  /** How large its context is, and may be. */
  context?: string;
  /** The tools that it has. */
  tools?: string[];
  /** Variables of the loop; `set` changes them. */
  variables?: Record<string, string>;
  /** Breakpoints, with their ids and hits. */
  breakpoints?: string[];
  /** Rules of its project, which hold or deny. */
  rules?: string[];
  /** What waits for a decision. */
  held?: HeldTarget[];
  /** What the actions take: fields of `hold_decide`, by action. */
  takes?: Record<string, string>;
  /** What is left out, and how to see it. */
  omitted?: string[];
  /** What can be done next. */
  next?: string;
}

/** A hold was decided or withdrawn. The fields of the action come with it. */
export interface AgentResumedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "resumed";
  /** The same type. */
  type: "resumed";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The agent's own name of the hold. */
    stop: string;
    /** The action that was decided, `deny` (by a rule) or `withdrawn`. */
    action: string;
    /** Who decided it; `rule-1` if nobody did, and the rule had a timeout. */
    by: string;
    /** Of `modify`: the arguments that were changed. */
    input?: unknown;
    /** Of `modify`: the new system prompt. */
    system?: string;
    /** Of `skip`: the result that was given. */
    result?: unknown;
    /** Of `raise`: the class of the exception. */
    exception_type?: string;
    /** Of `raise`: the message of the exception. */
    exception_message?: string;
    /** Of `inject`: the role of the message. */
    role?: string;
    /** Of `inject`: the content of the message. */
    content?: unknown;
    /** The rule that decided it after its timeout. */
    rule?: unknown;
    /** What the rule says about it. */
    message?: string;
  };
}

/** A run of the loop ended. */
export interface AgentRunEndEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "run_end";
  /** The same type. */
  type: "run_end";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** Whether an exception ended it. */
    isError: boolean;
    /** The model calls of its lane so far. */
    iterations: number;
    /** Which agent of the process; left out for the main one. */
    lane?: string;
    /** The exception that ended it. */
    error?: ErrorText;
  };
}

/** A run of the loop began. */
export interface AgentRunStartEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "run_start";
  /** The same type. */
  type: "run_start";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** Which agent of the process; left out for the main one. */
    lane?: string;
  };
}

/** The recording ended. */
export interface AgentSessionEndEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "session_end";
  /** The same type. */
  type: "session_end";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** `exit`, `error` or `closed`. */
    reason: string;
  };
}

/** The recording began, or goes on in another process. */
export interface AgentSessionStartEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "session_start";
  /** The same type. */
  type: "session_start";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The name of the session. */
    name: string;
    /** The id of the agent's process. */
    pid: number;
    /** The directory that the agent runs in. */
    cwd: string;
    /** The provider of its models, if it is known yet. */
    provider: string | null;
    /** Its model, if it is known yet. */
    model: string | null;
    /** The session that it was forked from, else the one in `startedBy`. */
    parent?: string;
    /** Of a replay: the session that it repeats. */
    replayOf?: string;
    /** Of a replay: what comes from the recording. */
    mode?: string;
    /** Of a fork: how many iterations come from the recording. */
    forkAt?: number;
    /** Of a fork: the lane whose iterations were counted. */
    forkLane?: string;
    /** Of a fork: something was changed where it begins. */
    edited?: boolean;
    /** The session whose process started this one's process. */
    startedBy?: string;
    /** It begins held: its first call waits for a decision. */
    hold?: boolean;
    /** The breakpoints that it begins with. */
    breakpoints?: unknown[];
    /** The rules of its project, first come first. */
    rules?: unknown[];
    /** It goes on with a recording that had begun before. */
    reopened?: boolean;
    /** 2: iterations are counted per lane. Without it, for the whole process. */
    version?: number;
  };
}

/** The loop is still held. It says so twice a second. */
export interface AgentStateSnapshotEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "state_snapshot";
  /** The same type. */
  type: "state_snapshot";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** Always true. */
    paused: boolean;
    /** What it waits for: always `resume`. */
    waiting: string;
    /** That of the lane that is held, or of the first of them. */
    iteration: number;
    /** The agent's own names of the holds. */
    stops: string[];
  };
}

/** Where an agent's loop is: running, held, or over. */
export interface AgentStatus {
  /** Which kind of target it is of. */
  kind: "agent";
  /** The id of the session. */
  session_id: string;
  /** Where the session is: created, launching, running, paused, waiting_for_input, terminated or failed. */
  status: string;
  /** The iteration of the lane that was the last to do something. */
  iteration: number;
  /** Its lanes; left out if not all of its recording was read yet. */
  lanes?: AgentLane[];
  /** The ids of the holds that wait for a decision. */
  holds: string[];
  /** While paused: the newest hold. */
  hold_id?: string;
  /** Why it is paused (start, pause, step, breakpoint or rule), or how it ended (exit, error, closed or crashed). */
  reason?: string | null;
  /** While paused: what waits. */
  held?: AgentStop[];
  /** It was asked to pause and has not stopped yet. */
  pause_pending?: boolean;
  /** What `pause_pending` means. */
  message?: string;
}

/** A step ended: the loop did one iteration. */
export interface AgentStepCompleteEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "step_complete";
  /** The same type. */
  type: "step_complete";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The iteration that it did. */
    iteration: number;
    /** Which agent of the process; left out for the main one. */
    lane?: string;
  };
}

/** A point where an agent waits for a decision. */
export interface AgentStop {
  /** The id of the hold. */
  hold_id: string;
  /** The name that the agent itself gave it: `stop-3`. */
  stop: string;
  /** What waits: `model` and `tool` have not run, `error` has failed. */
  at?: string;
  /** The name of the tool or model. */
  name?: string;
  /** Of a tool: the id of its call. */
  toolId?: string;
  /** That of the model call, or of the one that asked for the tool. */
  iteration?: number;
  /** Which agent of the process; left out for the main one. */
  lane?: string;
  /** The breakpoint that it stopped at. */
  breakpoint?: Record<string, unknown>;
  /** The rule of the project that holds it. After its `timeout`, in seconds, it decides by itself what `onTimeout` says. */
  rule?: Record<string, unknown>;
}

/** An agent session as a list shows it, and on its own. */
export interface AgentSummary {
  /** Which kind of target it is of. */
  kind: "agent";
  /** The id of the session. */
  session_id: string;
  /** Where the session is: created, launching, running, paused, waiting_for_input, terminated or failed. */
  status: string;
  /** The iteration of the lane that was the last to do something. */
  iteration: number;
  /** Its lanes; left out if not all of its recording was read yet. */
  lanes?: AgentLane[];
  /** The ids of the holds that wait for a decision. */
  holds: string[];
  /** While paused: the newest hold. */
  hold_id?: string;
  /** Why it is paused (start, pause, step, breakpoint or rule), or how it ended (exit, error, closed or crashed). */
  reason?: string | null;
  /** While paused: what waits. */
  held?: AgentStop[];
  /** It was asked to pause and has not stopped yet. */
  pause_pending?: boolean;
  /** What `pause_pending` means. */
  message?: string;
  /** The name that `start` was given. */
  name: string | null;
  /** When it began, as an ISO 8601 time in UTC. */
  created_at: string;
  /** The agent's process. */
  pid: number | null;
  /** Where its recording is. */
  directory: string;
  /** The number of its newest event. */
  last_event: number;
  /** The type of its newest event. */
  last_event_type: string | null;
  /** The agent's working directory. */
  cwd?: string;
  /** Whose models it calls. */
  provider?: string;
  /** The model that it calls. */
  model?: string;
  /** The session that it was forked from, else the one in `startedBy`. */
  parent?: string;
  /** The session whose process started this one's process. */
  startedBy?: string;
  /** The rules of its project's `holdfast.toml`; the first one that fits a call counts. `source` is the file and the line. */
  rules?: (Record<string, unknown>)[];
  /** Of a replay: the session that it replays. */
  replayOf?: string;
  /** Of a replay: `model` or `full`, what comes from the recording. */
  mode?: string;
  /** Of a fork: the recorded iterations. */
  forkAt?: number;
  /** Of a fork: the lane that was counted, if not the main one. */
  forkLane?: string;
  /** Of a fork: whether something was changed where it begins. */
  edited?: boolean;
  /** What its recording holds; in a list, once it was counted. */
  counters?: AgentCounters;
}

/** The call of a tool ended. */
export interface AgentToolCallEndEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "tool_call_end";
  /** The same type. */
  type: "tool_call_end";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The id of the call. */
    toolId: string;
    /** The name of the tool. */
    name: string;
    /** Whether it failed. */
    isError: boolean;
    /** How long it took, in milliseconds. */
    durationMs: number;
    /** The exception: its `type` and `message`. */
    error?: unknown;
    /** The content id of the pickle of the exception. */
    errorPickle?: string;
    /** Why the exception cannot be restored. */
    errorMarker?: string;
    /** How long it, or something inside it, was held, in milliseconds. */
    heldMs?: number;
    /** It was cancelled, and has stopped. */
    cancelled?: boolean;
    /** It was cancelled, and may still run. */
    abandoned?: boolean;
    /** How the function gave it, if not at once: `awaitable`, `future`, `stream`, `async_stream`, or the first and the last of these. */
    returned?: string;
    /** A rule denied it, and it did not run. */
    denied?: boolean;
    /** What was decided about the failure. */
    decision?: unknown;
  };
}

/** A tool is called. */
export interface AgentToolCallStartEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "tool_call_start";
  /** The same type. */
  type: "tool_call_start";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The id of the call. */
    toolId: string;
    /** The name of the tool. */
    name: string;
    /** The arguments that it runs with. */
    input: unknown;
    /** That of the model call that asked for it. */
    iteration: number;
    /** A key of the name and the arguments, by which a replay finds it. */
    hash: string;
    /** The arguments of the agent, if a decision changed them. */
    requested?: unknown;
    /** Which agent of the process; left out for the main one. */
    lane?: string;
    /** The tool has no side effects. */
    pure?: boolean;
    /** The id of the tool that asked for it, if the loop itself did not. */
    within?: string;
    /** What was decided about the call, if it was changed. */
    decision?: unknown;
    /** The recording has this call, and gives its outcome. */
    replayed?: boolean;
  };
}

/** A tool returned a result, or a decision gave one. */
export interface AgentToolResultEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "tool_result";
  /** The same type. */
  type: "tool_result";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The id of the call. */
    toolId: string;
    /** The name of the tool. */
    name: string;
    /** The result. */
    result?: unknown;
    /** The content id of the pickle of the result. */
    resultPickle?: string;
    /** Why the result cannot be restored. */
    resultMarker?: string;
    /** The result was given by a decision or a fork. */
    faked?: boolean;
    /** The stream was not read to its end. */
    partial?: boolean;
    /** How the function gave it, if not at once: `awaitable`, `future`, `stream`, `async_stream`, or the first and the last of these. */
    returned?: string;
  };
}

/** A request has a user's message that its lane did not have before. */
export interface AgentUserInputEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "user_input";
  /** The same type. */
  type: "user_input";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The content of the message. */
    content: unknown;
    /** Which agent of the process; left out for the main one. */
    lane?: string;
  };
}

/** The loop asked the bridge for a clock, an id or a random number. */
export interface AgentValueRecordedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "value_recorded";
  /** The same type. */
  type: "value_recorded";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** What it asked for. */
    name: string;
    /** The value that it got. */
    value?: unknown;
    /** The content id of the pickle of the value. */
    valuePickle?: string;
    /** Why the value cannot be restored. */
    valueMarker?: string;
    /** Which agent of the process; left out for the main one. */
    lane?: string;
    /** The id of the tool that asked for it, if the loop itself did not. */
    within?: string;
  };
}

/** A variable of the loop was set. */
export interface AgentVariableSetEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "variable_set";
  /** The same type. */
  type: "variable_set";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its fields, as recorded. */
  data: {
    /** The name of the variable. */
    key: string;
    /** Its new value. */
    value: unknown;
    /** The call that it was set before. */
    before: Place;
    /** The id of the command that set it. */
    commandId?: string;
  };
}

/** What an expression came to: `result` or `error`. Of a check: `accepted` or `refusal`. */
export interface AnswerFields {
  /** The `request_id` that the poll gave. */
  request_id?: string;
  /** The value. */
  result?: SentPreview;
  /** What it raised. */
  error?: EvaluationError;
  /** The decision can be carried out. */
  accepted?: boolean;
  /** With `accepted`: what the decider should know about it. */
  note?: string;
  /** The decision cannot be carried out. */
  refusal?: RefusalFields;
}

/** An application that reports its calls. Nothing of it is needed. */
export interface ApplicationFields {
  /** The application's name. */
  name?: string;
  /** Its process id. */
  pid?: number;
  /** Its command line. */
  argv?: string[];
  /** Its working directory. */
  cwd?: string;
  /** Its Python version. */
  python?: string;
  /** The script that it runs. */
  script?: string;
  /** The module that it runs. */
  module?: string;
  /** Its import path. */
  path?: string[];
  /** `strict`, or `leased` for one that reports in batches. */
  mode?: string;
  /** Whether it tries decisions before they are taken: it understands `check`. */
  checks?: boolean;
}

/** Which running program to attach to, and how. */
export interface AttachOptions {
  /** The process to attach to. */
  pid?: number | null;
  /** Where a debugpy listens; null: 127.0.0.1. */
  host?: string | null;
  /** The port on which a debugpy listens. */
  port?: number | null;
  /** Whether `raised` and step-into skip libraries. */
  just_my_code?: boolean;
  /** Whether each child process becomes a session of its own. */
  debug_subprocesses?: boolean;
  /** Whether a stop holds every thread. */
  stop_all_threads?: boolean;
  /** Pairs of a directory here and the same one there: breakpoints are set, and places are answered, with paths here. */
  path_mappings?: ([string, string])[];
}

/** A program that runs already: a process of this machine, or a debugpy that listens. */
export interface AttachRequest {
  /** The process to attach to. */
  pid?: number | null;
  /** Where a debugpy listens; null: 127.0.0.1. */
  host?: string | null;
  /** The port on which a debugpy listens. */
  port?: number | null;
  /** Whether `raised` and step-into skip libraries. */
  just_my_code?: boolean;
  /** Whether each child process becomes a session of its own. */
  debug_subprocesses?: boolean;
  /** Whether a stop holds every thread. */
  stop_all_threads?: boolean;
  /** Pairs of a directory here and the same one there: breakpoints are set, and places are answered, with paths here. */
  path_mappings?: ([string, string])[];
  /** Breakpoints to set before the program starts: one, or a list; those it has stay. */
  breakpoints?: BreakpointSpec | BreakpointSpec[] | null;
  /** Which exceptions stop the program; null: as they are set. */
  exception_filters?: ("raised" | "uncaught" | "userUnhandled")[] | null;
  /** How long to wait for the next stop or the end: seconds, `true` or `false`. */
  wait?: boolean | number | string | null;
  /** What the answer at a stop carries out of `source`, `locals`, `stack` and `output`: a list, or names with commas; null: `source` and `locals`. */
  include?: string[] | string | null;
  /** With `output`: only what came after this cursor; null: what no answer of this run has shown yet. */
  output_since?: string | number | null;
  /** With `output`: how many bytes of it at most, the newest; null: 65,536. */
  output_bytes?: number | null;
}

/** A batch of calls was taken. */
export interface BatchReceipt {
  /** Always `ok`. */
  status: string;
  /** How many calls were stored; 0 for a batch that came before. */
  taken: number;
}

/** A breakpoint, as it was set and as it was found. */
export interface BreakpointAnswer {
  /** The breakpoint's id within its session. */
  breakpoint_id: string;
  /** The same id. */
  id: string;
  /** What it is on: line, function or data. */
  kind: string;
  /** Whether it can fire; if not, see `message`. */
  verified: boolean;
  /** Whether it is on. */
  enabled: boolean;
  /** Who wants it: `rest`, an in-process `controller`, `editor:1`… */
  set_by: string[];
  /** How often it was reached. */
  hits: number;
  /** The path of its file. */
  file?: string;
  /** Its line. */
  line?: number;
  /** The function that it stops in, or the pattern of their names. */
  function?: string;
  /** If there are several such functions: where each begins, up to 100. `file` and `line` are those of the last. */
  places?: Location[];
  /** It stops where this expression is true. */
  condition?: string;
  /** At which hits it stops, such as `>= 5`. */
  hit_condition?: string;
  /** It writes this, and does not stop. */
  log_message?: string;
  /** Of a data breakpoint: the place that it watches. */
  data_id?: string;
  /** Of a data breakpoint: `write`, or `change` if only other values count. */
  access_type?: string;
  /** Of a data breakpoint: what it watches, as it was named. */
  expression?: string;
  /** Its file once more. */
  source?: SourcePath;
  /** Why it cannot fire, what it does not notice, or what its condition raised. */
  message?: string;
  /** A line that could be used instead. */
  suggestion?: SuggestedLine;
  /** That the file has changed since it was loaded. */
  warning?: string;
}

/** Fields left out stay; null removes a condition, hit condition or log message. */
export interface BreakpointChanges {
  /** Another line. */
  line?: number | null;
  /** Another condition. */
  condition?: string | null;
  /** Another hit condition. */
  hit_condition?: string | number | null;
  /** Another log message. */
  log_message?: string | null;
  /** Whether it is on. */
  enabled?: boolean | null;
}

/** A breakpoint as it was asked for. */
export interface BreakpointFields {
  /** In an exported session: its id. */
  id?: string;
  /** The path of its file. */
  file?: string;
  /** Its line. */
  line?: number;
  /** The function that it stops in, if it names one. */
  function?: string;
  /** It stops where this expression is true. */
  condition?: string;
  /** At which hits it stops, such as `>= 5`. */
  hit_condition?: string;
  /** It writes this, and does not stop. */
  log_message?: string;
  /** Whether it is on. */
  enabled?: boolean;
}

/** Every breakpoint of a session. */
export interface BreakpointList {
  /** The new breakpoints. */
  breakpoints: BreakpointAnswer[];
  /** How many they are. */
  total: number;
  /** Which exceptions stop the program. */
  exception_breakpoints: ExceptionBreakpoints;
}

/** A source by its path, as debug adapters name it. */
export interface BreakpointSource {
  /** The path of the file. */
  path: string;
}

/** Where to stop: `file` (or `source`) and `line`, or `function`. */
export interface BreakpointSpec {
  /** The path of the file. */
  file?: string | null;
  /** The file, in another form. */
  source?: BreakpointSource | null;
  /** The line, counted from 1. */
  line?: number | null;
  /** Instead of a line: a function, such as `module.func` or `Class.method`, or a pattern of names with `*`, `?` and `[…]`. */
  function?: string | null;
  /** Stop only where this expression is true. */
  condition?: string | null;
  /** On which hits: `N`, `== N`, `> N`, `>= N`, `< N`, `<= N`, `% N`. */
  hit_condition?: string | number | null;
  /** Write this, with `{expressions}` filled in, and do not stop. */
  log_message?: string | null;
  /** Whether it is on. */
  enabled?: boolean;
  /** Whether a missing file is an error. */
  strict?: boolean;
}

/** The breakpoints of a session after a change. */
export interface BreakpointTable {
  /** Where the program is: paused, running… */
  status: string;
  /** The session. */
  session_id: string;
  /** All breakpoints. */
  breakpoints: ListedBreakpoint[];
  /** Which exceptions stop it: uncaught, raised, none */
  exceptions: string;
  /** How many were removed. */
  removed?: number;
  /** What else is to be said. */
  message?: string;
  /** What is left out, and how to see it. */
  omitted?: string;
}

/** Breakpoints that one request set. */
export interface BreakpointsSet {
  /** The new breakpoints. */
  breakpoints: BreakpointAnswer[];
  /** How many they are. */
  total: number;
}

/** A breakpoint that concerns the session was added. */
export interface CallBreakpointAddedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "breakpoint_added";
  /** The same type. */
  type: "breakpoint_added";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The id of the breakpoint. */
  breakpoint_id: string;
  /** The name or the pattern of its functions; null if it names none. */
  function: string | null;
}

/** A call breakpoint, with what it has counted. */
export interface CallBreakpointAnswer {
  /** The id of the breakpoint. */
  id: string;
  /** The same id. */
  breakpoint_id: string;
  /** `before`, `after` or `exception`. */
  when: string;
  /** Whether it is in force. */
  enabled: boolean;
  /** How many calls it has matched. */
  hits: number;
  /** How often its condition or action had no answer. */
  undecided: number;
  /** A function's name, or a pattern. */
  function?: string;
  /** An alias, or a pattern. */
  alias?: string;
  /** `proxy` or `inline`. */
  call_type?: string;
  /** A filter, such as `args[0] > 10`. */
  condition?: string;
  /** On which hits, such as `% 3`. */
  hit_condition?: string;
  /** The one session that it counts in. */
  session_id?: string;
  /** What is done at once, without a hold. */
  action?: Record<string, unknown>;
  /** Why it had no answer last. */
  message?: string;
  /** How many functions that were registered or called it names, so far. */
  matches?: number;
  /** If it names none: the functions that are probably meant. */
  suggestions?: string[];
  /** What is probably a mistake in it, in sentences. It is in force all the same. */
  warnings?: string[];
  /** Why its condition had no answer, the most frequent reason first. */
  condition_errors?: UndecidedCondition[];
}

/** A breakpoint that concerns the session was changed. */
export interface CallBreakpointChangedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "breakpoint_changed";
  /** The same type. */
  type: "breakpoint_changed";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The id of the breakpoint. */
  breakpoint_id: string;
  /** The name or the pattern of its functions; null if it names none. */
  function: string | null;
}

/** Which calls to hold; at a change, what is left out stays, and null takes it away. */
export interface CallBreakpointFields {
  /** A function's name, or a pattern such as `Cart.*`. */
  function?: string | null;
  /** An alias, or a pattern. */
  alias?: string | null;
  /** `proxy` or `inline`. */
  call_type?: string | null;
  /** An expression over the call, such as `args[0] > 10`. */
  condition?: string | null;
  /** On which hits, such as `% 3`. */
  hit_condition?: string | number | null;
  /** When to hold; left out, `before` the call. */
  when?: "before" | "after" | "exception";
  /** Whether it is in force; left out, it is. */
  enabled?: boolean;
  /** The one session that it counts in. */
  session_id?: string | null;
  /** A decision that is made at once, without a hold: `action` and its fields. */
  action?: Record<string, unknown> | null;
}

/** Every call breakpoint. */
export interface CallBreakpointList {
  /** The breakpoints. */
  breakpoints: CallBreakpointAnswer[];
  /** How many there are. */
  total: number;
}

/** A breakpoint that concerned the session was removed. */
export interface CallBreakpointRemovedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "breakpoint_removed";
  /** The same type. */
  type: "breakpoint_removed";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The id of the breakpoint. */
  breakpoint_id: string;
  /** The name or the pattern of its functions; null if it names none. */
  function: string | null;
}

/** A held call was decided. */
export interface CallDecisionAnswer {
  /** The hold that this settled. */
  hold_id: string;
  /** What was decided. */
  action: string;
  /** The call. */
  call_id: string;
  /** The session of the call. */
  session_id: string;
  /** The state of that session now. */
  status: string;
  /** Whether the application has tried the decision before it was taken. */
  checked?: boolean;
  /** What the application says about how it carries it out. */
  note?: string;
}

/** Everything that was recorded of a call. */
export interface CallDetail {
  /** The id of the call; ids sort by time. */
  call_id: string;
  /** The session of the application that made it. */
  session_id: string;
  /** The name of the function. */
  method_name: string;
  /** The name that the application gave the object. */
  alias: string | null;
  /** The function's qualified name. */
  qualname: string | null;
  /** `proxy` or `inline`. */
  call_type: string;
  /** `running`, `success`, `exception` or `lost`. */
  status: string;
  /** When it started, in UTC. */
  timestamp: string;
  /** The positional arguments. */
  args: Value[];
  /** The keyword arguments. */
  kwargs: Record<string, Value>;
  /** The object that it was made on. */
  target_cid: string | null;
  /** The content id of the result. */
  result_cid: string | null;
  /** What the function returned. */
  result: Value | null;
  /** How long it took. */
  duration_ms: number | null;
  /** The type of the exception that it raised. */
  exception_type?: string | null;
  /** The exception's message. */
  exception_message?: string | null;
  /** The exception's content id. */
  exception_cid?: string | null;
  /** Why its values could not be stored whole. */
  marker?: string;
  /** The object was last compared with what is recorded of it so long before the call, because comparing it takes long. It may have been another then, and what the call changed in it is not known. Left out, it was compared before and after the call. */
  target_age_ms?: number;
  /** What the caller got instead, if it was decided so. */
  delivered?: Delivered | null;
  /** What a decision changed about it, if there was one. */
  decided?: DecidedCall;
  /** The function's signature. */
  signature: string | null;
  /** Where and when it was made. */
  call_site: CallSite;
  /** The line that made it. */
  location: Location | null;
  /** Id and name of the thread. */
  thread: Record<string, unknown> | null;
  /** The name of the asyncio task. */
  task: string | null;
  /** The call within which it was made. */
  parent_call_id: string | null;
  /** When it ended, by the application. */
  completed_at: number | null;
  /** How long it took, in nanoseconds. */
  duration_ns: number | null;
  /** What the call changed. */
  changed: ChangedValues | null;
  /** What was decided about it, when and by whom. */
  decision: Record<string, unknown> | null;
  /** The exception that it raised. */
  exception?: Value;
}

/** The value of an expression, made in the frame of whoever makes the call. */
export interface CallEvaluation {
  /** The value as text. */
  result: string;
  /** The name of its type. */
  type: string;
  /** The hold at which it was evaluated. */
  hold_id: string;
  /** Always 0: it cannot be unfolded. */
  variable_reference?: number;
  /** Always 0, like `variable_reference`. */
  reference?: number;
  /** Its length, if it has one. */
  length?: number;
  /** The value itself, if it is small plain data. */
  json?: unknown;
}

/** An event of an application's calls. */
export type CallEvent =
  | CallSessionStartedEvent
  | CallSessionResumedEvent
  | CallFunctionRegisteredEvent
  | CallHoldOpenedEvent
  | CallHoldDecidedEvent
  | CallHoldWithdrawnEvent
  | CallBreakpointAddedEvent
  | CallBreakpointChangedEvent
  | CallBreakpointRemovedEvent
  | CallTerminatedEvent;

/** The application reported a function for the first time, or with another signature. */
export interface CallFunctionRegisteredEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "function_registered";
  /** The same type. */
  type: "function_registered";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The name of the function. */
  name: string;
  /** Its signature, if it is known. */
  signature: string | null;
}

/** A held call, as a list of holds shows it. */
export interface CallHold {
  /** Which kind of target it is of. */
  kind: "calls";
  /** The id of the hold. */
  hold_id: string;
  /** The same id. */
  id: string;
  /** The session whose target waits. */
  session_id: string;
  /** Why it waits: breakpoint, step, pause, exception… */
  reason: string;
  /** Since when, as an ISO 8601 time in UTC. */
  opened_at: string;
  /** The thread that waits, if one does. */
  thread_id: number | null;
  /** Where it waits, if that is known. */
  location: Location | null;
  /** The actions that decide it. */
  allows: string[];
  /** One hold: whether it still waits for a decision. */
  open?: boolean;
  /** The call. */
  call_id: string;
  /** The name of the function. */
  method_name: string;
  /** `before`, `after` or `exception`. */
  when: string;
  /** The breakpoint that held it. */
  breakpoint_id: string;
}

/** A held call got its decision. */
export interface CallHoldDecidedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "hold_decided";
  /** The same type. */
  type: "hold_decided";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The id of the hold. */
  hold_id: string;
  /** The id of the call. */
  call_id: string;
  /** The action that was decided. */
  action: string;
  /** Who decided it. */
  by: string;
}

/** What a decider has to know: the call, its values by parameter, and what may replace it. */
export interface CallHoldDetail {
  /** Which kind of target it is of. */
  kind: "calls";
  /** The id of the call; ids sort by time. */
  call_id: string;
  /** The session of the application that made it. */
  session_id: string;
  /** The name of the function. */
  method_name: string;
  /** The name that the application gave the object. */
  alias: string | null;
  /** The function's qualified name. */
  qualname: string | null;
  /** `proxy` or `inline`. */
  call_type: string;
  /** `running`, `success`, `exception` or `lost`. */
  status: string;
  /** When it started, in UTC. */
  timestamp: string;
  /** The positional arguments. */
  args: Value[];
  /** The keyword arguments. */
  kwargs: Record<string, Value>;
  /** The object that it was made on. */
  target_cid: string | null;
  /** The content id of the result. */
  result_cid: string | null;
  /** What the function returned. */
  result: Value | null;
  /** How long it took. */
  duration_ms: number | null;
  /** The type of the exception that it raised. */
  exception_type?: string | null;
  /** The exception's message. */
  exception_message?: string | null;
  /** The exception's content id. */
  exception_cid?: string | null;
  /** Why its values could not be stored whole. */
  marker?: string;
  /** The object was last compared with what is recorded of it so long before the call, because comparing it takes long. It may have been another then, and what the call changed in it is not known. Left out, it was compared before and after the call. */
  target_age_ms?: number;
  /** What the caller got instead, if it was decided so. */
  delivered?: Delivered | null;
  /** What a decision changed about it, if there was one. */
  decided?: DecidedCall;
  /** The function's signature. */
  signature: string | null;
  /** Where and when it was made. */
  call_site: CallSite;
  /** The line that made it. */
  location: Location | null;
  /** Id and name of the thread. */
  thread: Record<string, unknown> | null;
  /** The name of the asyncio task. */
  task: string | null;
  /** The call within which it was made. */
  parent_call_id: string | null;
  /** When it ended, by the application. */
  completed_at: number | null;
  /** How long it took, in nanoseconds. */
  duration_ns: number | null;
  /** What the call changed. */
  changed: ChangedValues | null;
  /** What was decided about it, when and by whom. */
  decision: Record<string, unknown> | null;
  /** The exception that it raised. */
  exception?: Value;
  /** The id of the hold. */
  hold_id: string;
  /** The same id. */
  id: string;
  /** Always `breakpoint`. */
  reason: string;
  /** Since when it waits, as an ISO 8601 time in UTC. */
  opened_at: string;
  /** The thread that waits. */
  thread_id: number | null;
  /** The actions that decide it. */
  allows: string[];
  /** `before`, `after` or `exception`. */
  when: string;
  /** The breakpoint that held it. */
  breakpoint_id: string;
  /** Whether expressions can be evaluated in its caller. */
  evaluates: boolean;
  /** After how long it goes on undecided. */
  timeout_ms: number;
  /** The functions that `replace` takes. */
  replacements: string[];
  /** The arguments by parameter, in the order of the signature. */
  arguments: HeldArgument[];
  /** What that breakpoint matches, in words. */
  breakpoint?: string;
  /** Whether it still waits for a decision. */
  open?: boolean;
}

/** A call is held: it waits for a decision. */
export interface CallHoldOpenedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "hold_opened";
  /** The same type. */
  type: "hold_opened";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The id of the hold. */
  hold_id: string;
  /** The id of the call. */
  call_id: string;
  /** The name of the function. */
  method_name: string;
  /** Whether it is held before or after the call. */
  when: string;
  /** The breakpoint that was hit. */
  breakpoint_id: string;
}

/** A held call does not wait any more, and nobody decided it. */
export interface CallHoldWithdrawnEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "hold_withdrawn";
  /** The same type. */
  type: "hold_withdrawn";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The id of the hold. */
  hold_id: string;
  /** The id of the call. */
  call_id: string;
  /** Why it does not wait any more. */
  why: string;
}

/** What an application does with a call, and with what. */
export interface CallInstruction {
  /** The action that was decided, or `poll` while the call is held. */
  action?: string;
  /** `skip`: the content id of the result that the caller gets. */
  fake_result_cid?: string;
  /** `skip`: the pickled result, in base64. */
  fake_result_data?: string;
  /** `raise`: a builtin exception's name, or a dotted path. */
  exception_type?: string;
  /** `raise`: the message of the exception. */
  exception_message?: string;
  /** `raise`: the content id of the exception itself. */
  exception_cid?: string;
  /** `raise`: the pickled exception, in base64. */
  exception_data?: string;
  /** `raise`: the positional arguments of the exception's constructor. */
  exception_args?: SentValue[];
  /** `raise`: the keyword arguments of the exception's constructor. */
  exception_kwargs?: Record<string, SentValue>;
  /** `modify`: the positional arguments; null keeps one. */
  modified_args?: (SentValue | null)[];
  /** `modify`: arguments by parameter name. */
  modified_kwargs?: Record<string, SentValue>;
  /** `replace`: the registered function to call instead. */
  function_name?: string;
  /** `poll`: the hold that was opened. */
  hold_id?: string;
  /** `poll`: the breakpoint that holds the call. */
  breakpoint_id?: string;
  /** `poll`: what that breakpoint matches, in words. */
  breakpoint?: string;
  /** `poll`: where to ask for the decision. */
  poll_url?: string;
  /** `poll`: how often to ask, without `wait`. */
  poll_interval_ms?: number;
  /** `poll`: after how long the call goes on undecided. */
  timeout_ms?: number;
}

/** A call with the calls made within it. */
export interface CallNode {
  /** The id of the call; ids sort by time. */
  call_id: string;
  /** The session of the application that made it. */
  session_id: string;
  /** The name of the function. */
  method_name: string;
  /** The name that the application gave the object. */
  alias: string | null;
  /** The function's qualified name. */
  qualname: string | null;
  /** `proxy` or `inline`. */
  call_type: string;
  /** `running`, `success`, `exception` or `lost`. */
  status: string;
  /** When it started, in UTC. */
  timestamp: string;
  /** The positional arguments. */
  args: Value[];
  /** The keyword arguments. */
  kwargs: Record<string, Value>;
  /** The object that it was made on. */
  target_cid: string | null;
  /** The content id of the result. */
  result_cid: string | null;
  /** What the function returned. */
  result: Value | null;
  /** How long it took. */
  duration_ms: number | null;
  /** The type of the exception that it raised. */
  exception_type?: string | null;
  /** The exception's message. */
  exception_message?: string | null;
  /** The exception's content id. */
  exception_cid?: string | null;
  /** Why its values could not be stored whole. */
  marker?: string;
  /** The object was last compared with what is recorded of it so long before the call, because comparing it takes long. It may have been another then, and what the call changed in it is not known. Left out, it was compared before and after the call. */
  target_age_ms?: number;
  /** What the caller got instead, if it was decided so. */
  delivered?: Delivered | null;
  /** What a decision changed about it, if there was one. */
  decided?: DecidedCall;
  /** The calls made within it, oldest first. */
  children: CallNode[];
}

/** Calls, newest first. */
export interface CallPage {
  /** The calls of this page. */
  calls: CallSummary[];
  /** How many there are on this page. */
  count: number;
  /** `before` for the next page; null at the end. */
  next: string | null;
  /** Whether there is a next page. */
  has_more: boolean;
  /** How many calls were read to find these. */
  looked_at: number;
  /** For how many of them the filter had no answer. */
  undecided: number;
  /** Why the filter had no answer, the most frequent reason first. */
  condition_errors?: UndecidedCondition[];
}

/** Recorded calls, newest first; or one call with all that is known of it. */
export interface CallReport {
  /** The calls, newest first; of a tree oldest first, with their depth. */
  calls: ReportedCall[];
  /** How many were found. */
  total: number;
  /** How many calls were read to find them. */
  looked_at?: number;
  /** There are older ones: `before` for the next page. */
  older?: string;
  /** One call: its session. */
  session_id?: string;
  /** One call: the line that made it. */
  at?: string;
  /** One call: the signature. */
  signature?: string;
  /** One call: the call within which it was made. */
  within?: string;
  /** One call: its thread and task. */
  thread?: string;
  /** One call: what its caller got instead. */
  delivered?: string;
  /** One call: values that it left different. */
  changed?: Record<string, string>;
  /** One call: who made it, innermost first, as `function file:line`. */
  stack?: string[];
  /** For what calls the filter had no answer, and why. */
  problems?: string[];
  /** What is left out, and how to see it. */
  omitted?: string[];
  /** What can be done next. */
  next?: string;
}

/** A session of calls. */
export interface CallSessionAnswer {
  /** Which kind of target it is of. */
  kind: "calls";
  /** The id of the session. */
  session_id: string;
  /** Where the session is: created, launching, running, paused, waiting_for_input, terminated or failed. */
  status: string;
  /** The application's name. */
  name: string | null;
  /** When it was opened, in UTC. */
  created_at: string;
  /** The application's process id. */
  pid: number | null;
  /** How many calls it has reported. */
  calls: number;
  /** Its open holds. */
  holds: string[];
  /** The number of its newest event. */
  last_event: number;
  /** The application's command line. */
  argv?: string[];
  /** Its working directory. */
  cwd?: string;
  /** Its Python version. */
  python?: string;
  /** The script that it runs. */
  script?: string;
  /** The module that it runs. */
  module?: string;
  /** Its import path. */
  path?: string[];
  /** Why it ended. */
  reason?: string | null;
}

/** A session that had ended goes on, because its application is still there. */
export interface CallSessionResumedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "session_resumed";
  /** The same type. */
  type: "session_resumed";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The session's name, if it has one. */
  name: string | null;
  /** The application's process id, if it gave one. */
  pid: number | null;
}

/** An application opened a session for its calls. */
export interface CallSessionStartedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "session_started";
  /** The same type. */
  type: "session_started";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The session's name, if it has one. */
  name: string | null;
  /** The application's process id, if it gave one. */
  pid: number | null;
}

/** Where and when a call was made. */
export interface CallSite {
  /** Seconds since the epoch, by the application. */
  timestamp: number | null;
  /** The object that it was made on. */
  target_cid: string | null;
  /** The frames, innermost first. */
  stack_trace: (Record<string, unknown>)[];
}

/** A recorded call. */
export interface CallSummary {
  /** The id of the call; ids sort by time. */
  call_id: string;
  /** The session of the application that made it. */
  session_id: string;
  /** The name of the function. */
  method_name: string;
  /** The name that the application gave the object. */
  alias: string | null;
  /** The function's qualified name. */
  qualname: string | null;
  /** `proxy` or `inline`. */
  call_type: string;
  /** `running`, `success`, `exception` or `lost`. */
  status: string;
  /** When it started, in UTC. */
  timestamp: string;
  /** The positional arguments. */
  args: Value[];
  /** The keyword arguments. */
  kwargs: Record<string, Value>;
  /** The object that it was made on. */
  target_cid: string | null;
  /** The content id of the result. */
  result_cid: string | null;
  /** What the function returned. */
  result: Value | null;
  /** How long it took. */
  duration_ms: number | null;
  /** The type of the exception that it raised. */
  exception_type?: string | null;
  /** The exception's message. */
  exception_message?: string | null;
  /** The exception's content id. */
  exception_cid?: string | null;
  /** Why its values could not be stored whole. */
  marker?: string;
  /** The object was last compared with what is recorded of it so long before the call, because comparing it takes long. It may have been another then, and what the call changed in it is not known. Left out, it was compared before and after the call. */
  target_age_ms?: number;
  /** What the caller got instead, if it was decided so. */
  delivered?: Delivered | null;
  /** What a decision changed about it, if there was one. */
  decided?: DecidedCall;
}

/** The session ended. */
export interface CallTerminatedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "terminated";
  /** The same type. */
  type: "terminated";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Why: ended, process_ended, deleted or server_stopped. */
  reason: string;
}

/** A call, and all calls made within it. */
export interface CallTree {
  /** The call. */
  call: CallNode;
  /** Whether that is all of them. */
  complete: boolean;
  /** How many calls these are. */
  total: number;
}

/** A failing test, as it was when it failed. */
export interface Capture {
  /** The capture's id. */
  id: string;
  /** The run of pytest; ids of runs sort by time. */
  run: string;
  /** When, as an ISO 8601 time in UTC. */
  time: string;
  /** The test's node id. */
  node: string;
  /** setup, call, teardown or collect. */
  when: string;
  /** Why it failed. */
  exception: CaptureException;
  /** What led to it, nearest first. */
  causes?: CaptureException[];
  /** The assertion, if it is one that can be read. */
  assertion?: CaptureAssertion;
  /** Which of its subtests failed. */
  subtest?: string;
  /** How long it took, in seconds. */
  duration?: number;
  /** The worker of pytest-xdist. */
  worker?: string | null;
  /** Which attempt, where failing tests are run again. */
  attempt?: number;
  /** The directory that the node id is relative to. */
  root?: string;
  /** The interpreter. */
  python?: string;
  /** The version of Python. */
  version?: string;
  /** What the test wrote: title and text. */
  output?: ([string, string])[];
}

/** A failed assertion. */
export interface CaptureAssertion {
  /** The assertion. */
  source: string;
  /** Expressions in it, with their values. */
  operands?: CaptureValue[];
  /** Whether the first two operands are the sides of a comparison. */
  is_comparison?: boolean;
}

/** The exception of a failing test, or one that led to it. */
export interface CaptureException {
  /** The name of its class. */
  type: string;
  /** Its message; of an assertion, what pytest explains. */
  message: string;
  /** The module of its class. */
  module?: string;
  /** Notes that were added to it. */
  notes?: string[];
  /** Of one that led to another: `cause`, `context` or `member`. */
  relation?: string;
  /** From the nearest frame of the user's own code outwards. */
  frames?: CaptureFrame[];
  /** Frames of libraries that it called, innermost first. */
  inner?: CaptureFrame[];
  /** How many frames there were. */
  frames_total?: number;
}

/** A frame of the traceback. */
export interface CaptureFrame {
  /** Its file. */
  file: string;
  /** Its line. */
  line: number;
  /** Its function. */
  function: string;
  /** The lines around, with their numbers. */
  source?: ([number, string])[];
  /** Its variables. */
  locals?: CaptureValue[];
  /** How many variables it had. */
  locals_total?: number;
}

/** The captures of failing tests, newest first. */
export interface CaptureList {
  /** The captures. */
  captures: CaptureSummary[];
  /** How many there are in all. */
  total: number;
}

/** A failing test in a list. */
export interface CaptureSummary {
  /** The capture's id. */
  id: string;
  /** The run of pytest. */
  run: string;
  /** When, as an ISO 8601 time in UTC. */
  time: string;
  /** The test's node id. */
  node: string;
  /** setup, call, teardown or collect. */
  when: string;
  /** The class of the exception. */
  exception: string;
  /** The first line of its message. */
  message: string;
  /** Where, as file:line. */
  at: string;
  /** Which attempt. */
  attempt?: number;
  /** The worker of pytest-xdist. */
  worker?: string | null;
}

/** A variable, an operand, or a part of one. */
export interface CaptureValue {
  /** Its name; of an operand, the expression. */
  name: string;
  /** Its value as text. */
  value: string;
  /** The name of its class. */
  type?: string;
  /** Its items or attributes, as far as captured. */
  children?: CaptureValue[];
  /** How many of them there were. */
  children_total?: number;
}

/** An exception that led to another, or that is a member of an exception group. */
export interface Cause {
  /** The name of its class. */
  type?: string;
  /** The module of its class. */
  module?: string;
  /** Its message. */
  message?: string;
  /** The notes that were added to it. */
  notes?: string[];
  /** `cause` (raised from it), `context` (raised while it was handled) or `member` (of a group). */
  relation?: string;
  /** What it led to: 0 the exception itself, n the nth of `causes`. */
  of?: number;
  /** Its traceback, ordered as the exception's. */
  frames?: TracebackFrame[];
  /** How many frames its traceback has. */
  frames_total?: number;
}

/** An argument that a decision changed. */
export interface ChangedArgument {
  /** The parameter, or `args[0]` if its name is not known. */
  name: string;
  /** The value that the function got. */
  after: Value;
  /** The value that the caller passed; left out if there was none. */
  before?: Value;
}

/** The values that a call left different from how it found them. */
export interface ChangedValues {
  /** Positional arguments afterwards, by index. */
  args?: Record<string, Value>;
  /** Keyword arguments afterwards, by name. */
  kwargs?: Record<string, Value>;
  /** The object afterwards. */
  target?: Value;
}

/** The call breakpoints are gone; what they still hold. */
export interface ClearedCallBreakpoints {
  /** How many there were. */
  deleted: number;
  /** The holds of theirs that are still open; `release` continues them. */
  holds?: string[];
  /** The holds that were continued. */
  released?: string[];
  /** How to continue what is still held. */
  hint?: string;
}

/** How to call the copy. */
export interface CloneSession {
  /** The name of the new session. */
  name?: string | null;
}

/** What to do with a call that has ended; without `action`, nothing. */
export interface CompleteAnswer {
  /** The action that was decided, or `poll` while the call is held. */
  action?: string;
  /** `skip`: the content id of the result that the caller gets. */
  fake_result_cid?: string;
  /** `skip`: the pickled result, in base64. */
  fake_result_data?: string;
  /** `raise`: a builtin exception's name, or a dotted path. */
  exception_type?: string;
  /** `raise`: the message of the exception. */
  exception_message?: string;
  /** `raise`: the content id of the exception itself. */
  exception_cid?: string;
  /** `raise`: the pickled exception, in base64. */
  exception_data?: string;
  /** `raise`: the positional arguments of the exception's constructor. */
  exception_args?: SentValue[];
  /** `raise`: the keyword arguments of the exception's constructor. */
  exception_kwargs?: Record<string, SentValue>;
  /** `modify`: the positional arguments; null keeps one. */
  modified_args?: (SentValue | null)[];
  /** `modify`: arguments by parameter name. */
  modified_kwargs?: Record<string, SentValue>;
  /** `replace`: the registered function to call instead. */
  function_name?: string;
  /** `poll`: the hold that was opened. */
  hold_id?: string;
  /** `poll`: the breakpoint that holds the call. */
  breakpoint_id?: string;
  /** `poll`: what that breakpoint matches, in words. */
  breakpoint?: string;
  /** `poll`: where to ask for the decision. */
  poll_url?: string;
  /** `poll`: how often to ask, without `wait`. */
  poll_interval_ms?: number;
  /** `poll`: after how long the call goes on undecided. */
  timeout_ms?: number;
  /** Always `ok`. */
  status?: string;
}

/** A call has ended. `call_id` and `status` are needed. */
export interface CompleteFields {
  /** The id that the call was given when it started. */
  call_id?: string;
  /** `success` or `exception`. */
  status?: string;
  /** When it ended, in seconds since the epoch. */
  timestamp?: number;
  /** The content id of the result. */
  result_cid?: string;
  /** The pickled result, in base64. */
  result_data?: string;
  /** What people see of the result. */
  result_preview?: SentPreview;
  /** The content id of the exception. */
  exception_cid?: string;
  /** The pickled exception, in base64. */
  exception_data?: string;
  /** What people see of the exception. */
  exception_preview?: SentPreview;
  /** The name of the exception's class. */
  exception_type?: string;
  /** The exception's message. */
  exception_message?: string;
  /** Values that the others refer to. */
  needs?: SentItem[];
  /** How long it took, in nanoseconds. */
  duration_ns?: number;
  /** What it changed. */
  changed?: SentChanges;
  /** What was done about it, if something was decided. */
  action?: string;
  /** Why its values could not be stored whole. */
  marker?: string;
}

/** A text to complete. */
export interface CompleteText {
  /** What was typed so far. */
  text: string;
  /** The frame whose names are meant; 0 is the innermost. */
  frame_id?: number;
  /** The column of the cursor; null: the end. */
  column?: number | null;
}

/** Something that can follow the text. */
export interface Completion {
  /** The name. */
  label: string;
  /** What it is: field, function, module… */
  type: string;
  /** Where in the text it begins. */
  start: number;
  /** How much of the text it replaces. */
  length: number;
}

/** What can follow the text. */
export interface CompletionList {
  /** The completions, with their places. */
  targets: Completion[];
  /** Their names alone. */
  completions: string[];
}

/** An expression of a breakpoint that raised. */
export interface ConditionError {
  /** The breakpoint's id within its session. */
  breakpoint_id: string;
  /** The path of its file. */
  file?: string;
  /** Its line. */
  line?: number;
  /** The function that it stops in, if it names one. */
  function?: string;
  /** Where it stands: condition or log_message. */
  field: string;
  /** The expression. */
  expression: string;
  /** What it raised first. */
  error: string;
  /** How often it raised; left out if the program could not say it. */
  count?: number;
}

/** Which holds to continue. */
export interface ContinueAll {
  /** Only those of this session. */
  session_id?: string | null;
  /** Who decides; whoever comes second is told. */
  by?: string | null;
}

/** How far to run. */
export interface ContinueRequest {
  /** How long to wait for the next stop or the end: seconds, `true` or `false`. */
  wait?: boolean | number | string | null;
  /** What the answer at a stop carries out of `source`, `locals`, `stack` and `output`: a list, or names with commas; null: `source` and `locals`. */
  include?: string[] | string | null;
  /** With `output`: only what came after this cursor; null: what no answer of this run has shown yet. */
  output_since?: string | number | null;
  /** With `output`: how many bytes of it at most, the newest; null: 65,536. */
  output_bytes?: number | null;
  /** The thread to run; null: the one that stopped. */
  thread_id?: number | null;
  /** Of an agent: the lane that is meant; null: all. */
  lane?: string | null;
  /** Who decides; whoever comes second is told. */
  by?: string | null;
  /** Stop when this expression becomes true, or when the frame that it is of returns. */
  watch_until?: string | null;
  /** The frame whose names `watch_until` means. */
  frame_id?: number;
}

/** Which holds one request continued. */
export interface ContinuedHolds {
  /** The ids of the holds that it settled. */
  continued: string[];
  /** How many they are. */
  total: number;
}

/** Look at and steer another agent's loop. hold_decide decides what it holds. */
export interface ControlAgent {
  /** At most so many tokens in the answer. */
  budget_tokens?: number;
  /** What to do. */
  command?: "status" | "pause" | "resume" | "step" | "inspect" | "inject" | "set" | "cancel" | "break" | "breakpoints" | "unbreak";
  /** Id or name. Default: the latest agent. */
  session_id?: string | null;
  /** Of several agents in its process. */
  lane?: string | null;
  /** break: `tool:write_*`, `model`, `iteration:3`, `pattern:rm -rf`, `error`, `call:Cart.*` (an application's call); unbreak: id or `all`. */
  breakpoint?: string | null;
  /** break: only if `input['n'] > 3`. */
  condition?: string | null;
  /** inspect: which part. */
  what?: "all" | "messages" | "context" | "tools" | null;
  /** inspect: messages from here; below 0, the last. */
  start?: number | null;
  /** inject: the text. */
  message?: string | null;
  /** inject: user, assistant or system. */
  role?: string | null;
  /** set: a variable of the loop. */
  key?: string | null;
  /** set: its new value. */
  value?: unknown;
  /** cancel: the tool call. */
  tool_id?: string | null;
  /** Seconds to wait for that. */
  timeout?: number;
}

/** A new session: empty, or with `launch` or `mode: attach` of a program, from its start on. */
export interface CreateSession {
  /** The process to attach to. */
  pid?: number | null;
  /** Where a debugpy listens; null: 127.0.0.1. */
  host?: string | null;
  /** The port on which a debugpy listens. */
  port?: number | null;
  /** Whether `raised` and step-into skip libraries. */
  just_my_code?: boolean;
  /** Whether each child process becomes a session of its own. */
  debug_subprocesses?: boolean;
  /** Whether a stop holds every thread. */
  stop_all_threads?: boolean;
  /** Pairs of a directory here and the same one there: breakpoints are set, and places are answered, with paths here. */
  path_mappings?: ([string, string])[];
  /** The session's name. */
  name?: string | null;
  /** The project directory; relative paths start here. */
  cwd?: string | null;
  /** How long the session may be idle, in minutes; null: as the server's settings say. */
  timeout_minutes?: number | null;
  /** How many bytes of output are kept; null: as the server's settings say. */
  output_limit_bytes?: number | null;
  /** How many seconds an expression may take; null: as the server's settings say. */
  evaluate_timeout?: number | null;
  /** `attach`: attach at once, to `pid` or `port`. */
  mode?: "launch" | "attach";
  /** Launch this at once; if that is refused, there is no session. */
  launch?: LaunchRequest | null;
  /** Breakpoints to set before the program starts: one, or a list; those it has stay. */
  breakpoints?: BreakpointSpec | BreakpointSpec[] | null;
  /** Which exceptions stop the program; null: as they are set. */
  exception_filters?: ("raised" | "uncaught" | "userUnhandled")[] | null;
  /** The profile whose breakpoints the session begins with. */
  breakpoint_profile?: string | null;
  /** How long to wait for the next stop or the end: seconds, `true` or `false`. */
  wait?: boolean | number | string | null;
  /** What the answer at a stop carries out of `source`, `locals`, `stack` and `output`: a list, or names with commas; null: `source` and `locals`. */
  include?: string[] | string | null;
  /** With `output`: only what came after this cursor; null: what no answer of this run has shown yet. */
  output_since?: string | number | null;
  /** With `output`: how many bytes of it at most, the newest; null: 65,536. */
  output_bytes?: number | null;
}

/** What a name stands for, and whether it can be watched. */
export interface DataBreakpointInfo {
  /** The place to watch; null if it cannot be, see `message`. */
  data_id: string | null;
  /** The same, as debug adapters call it. */
  dataId: string | null;
  /** What would be watched. */
  description: string;
  /** When it can stop: at each `write`, or at a `change`. */
  access_types: string[];
  /** Whether the id is good for later runs of the program, too. */
  can_persist: boolean;
  /** Why it cannot be watched, or what is not noticed. */
  message?: string;
}

/** A value to watch: `name` (in the frame `frame_id`), or a `data_id` that was given before. */
export interface DataBreakpointSpec {
  /** `counter`, `c.value`, `d['k']`, `items[1]`, or any expression. */
  name?: string | null;
  /** The frame whose names are meant; 0 is the innermost. */
  frame_id?: number;
  /** What `GET data-breakpoint-info` gave. */
  data_id?: string | null;
  /** At every write, or only if the value is another one. */
  access_type?: "write" | "change";
  /** Stop only where this is true; it knows `old` and `new`, and the writer's names. */
  condition?: string | null;
  /** On which hits: `N`, `== N`, `> N`, `>= N`, `< N`, `<= N`, `% N`. */
  hit_condition?: string | number | null;
  /** Whether it is on. */
  enabled?: boolean;
}

/** A write that a data breakpoint stopped at. */
export interface DataChange {
  /** The data breakpoint. */
  breakpoint_id: string;
  /** What it watches, as it was named. */
  name: string;
  /** A preview of the value before; null if there was none. */
  old: string | null;
  /** A preview of the value now; null if it was deleted. */
  new: string | null;
  /** The line that wrote. */
  location: Location;
}

/** Threads or tasks that wait for one another in a circle: none of them can go on. */
export interface DeadlockCycle {
  /** The ids of the threads. */
  threads: number[];
  /** The names of the asyncio tasks. */
  tasks: string[];
  /** Who waits for what, and who holds it. */
  message: string;
}

/** What every thread waits for, and who can never go on. */
export interface DeadlockReport {
  /** Every thread. */
  threads: WaitingThread[];
  /** The asyncio tasks that wait. */
  tasks: WaitingTask[];
  /** The deadlocks; none if empty. */
  cycles: DeadlockCycle[];
  /** The result in a sentence or two. */
  message: string;
  /** The program could not answer, so that its locks cannot be read. */
  outside?: boolean;
}

/** Let it run to its next stop, or wait for it if it runs. Gives it `input` if that is set. */
export interface DebugContinue {
  /** At most so many tokens in the answer. */
  budget_tokens?: number;
  /** Default: the latest session. */
  session_id?: string | null;
  /** A line for a program that waits for input; `\x04` ends its input. */
  input?: string | null;
  /** `file:line`, or an expression to become true. */
  until?: string | null;
  /** Seconds to wait; then it answers `running`, and goes on. */
  timeout?: number;
  /** Show values that look like secrets. */
  show_secrets?: boolean;
}

/** Evaluate an expression, or run a statement, where the program stands. */
export interface DebugEvaluate {
  /** At most so many tokens in the answer. */
  budget_tokens?: number;
  /** Python. */
  expression: string;
  /** Default: the latest session. */
  session_id?: string | null;
  /** 0 is where it stopped, 1 its caller… */
  frame?: number;
  /** Seconds to wait; then it answers `running`, and goes on. */
  timeout?: number;
  /** Show values that look like secrets. */
  show_secrets?: boolean;
}

/** Look at a stop again: source, stack, variables; unfold a value; several expressions. */
export interface DebugInspect {
  /** At most so many tokens in the answer. */
  budget_tokens?: number;
  /** Default: the latest session. */
  session_id?: string | null;
  /** 0 is where it stopped, 1 its caller… */
  frame?: number;
  /** A value to unfold, such as `q.child` or `rows[3]`. */
  expand?: string | null;
  /** Expressions to evaluate there. */
  expressions?: string[];
  /** Which parts. Default: what is worth showing. */
  show?: ("locals" | "stack" | "source" | "output" | "threads" | "breakpoints")[];
  /** From which item, frame or line on. */
  start?: number;
  /** Instead of a session: a failing test's capture, or `latest`. */
  capture?: string | null;
  /** Show values that look like secrets. */
  show_secrets?: boolean;
}

/** Run a program to its first breakpoint, crash, failing test or end, and report it. */
export interface DebugRun {
  /** At most so many tokens in the answer. */
  budget_tokens?: number;
  /** Script, module, `file.py::test`, or a command line such as `pytest -k cart`. */
  target: string;
  /** Arguments of the program. */
  args?: string[];
  /** Variables; null unsets. */
  env?: Record<string, string | null>;
  /** Working directory. */
  cwd?: string | null;
  /** Interpreter. Default: the project's own. */
  python?: string | null;
  /** What the program reads. */
  stdin?: string | null;
  /** `file:line`, `module.func`, either with ` if condition`; or objects. */
  breakpoints?: (string | BreakpointSpec)[];
  /** Expressions: a table with a row for each hit of a breakpoint, without stopping. */
  collect?: string[];
  /** Stop where this is true, or at this `file:line`. */
  until?: string | null;
  /** Stop at this hit; with `collect`, after so many rows. */
  max_hits?: number | null;
  /** Which exceptions stop it. */
  exceptions?: "uncaught" | "raised" | "none";
  /** Debug child processes, too: each is a session of its own. */
  subprocesses?: boolean;
  /** Seconds to wait; then it answers `running`, and goes on. */
  timeout?: number;
  /** Show values that look like secrets. */
  show_secrets?: boolean;
}

/** List sessions (programs, calls, agents) and captures of failing tests. */
export interface DebugSessions {
  /** At most so many tokens in the answer. */
  budget_tokens?: number;
  /** At most so many. */
  limit?: number;
}

/** Set and remove breakpoints while a session lives; answers with all of them. */
export interface DebugSetBreakpoints {
  /** At most so many tokens in the answer. */
  budget_tokens?: number;
  /** Default: the latest session. */
  session_id?: string | null;
  /** `file:line`, `module.func`, either with ` if condition`; or objects. */
  add?: (string | BreakpointSpec)[];
  /** Values: stop where one is written, such as `cart.total`. */
  watch?: string[];
  /** Ids or places; `all` for all. */
  remove?: string[];
  /** Which exceptions stop it. */
  exceptions?: "uncaught" | "raised" | "none" | null;
}

/** Step. `count` and `until` make several steps in one call. */
export interface DebugStep {
  /** At most so many tokens in the answer. */
  budget_tokens?: number;
  /** Default: the latest session. */
  session_id?: string | null;
  /** `to_line` runs to `line`; `return` to the end of the frame; `pause` stops a run. */
  kind?: "over" | "into" | "out" | "to_line" | "return" | "pause";
  /** How many steps; with `until`, at most. */
  count?: number;
  /** Step until this expression is true. */
  until?: string | null;
  /** For `to_line`: the line, in this file. */
  line?: number | null;
  /** Seconds to wait; then it answers `running`, and goes on. */
  timeout?: number;
  /** Show values that look like secrets. */
  show_secrets?: boolean;
}

/** End a session and its program. */
export interface DebugStop {
  /** At most so many tokens in the answer. */
  budget_tokens?: number;
  /** Default: the latest; `all`: all of yours. */
  session_id?: string | null;
}

/** Decide a hold by an action that it allows, and see what comes of it. The first one wins. */
export interface DecideHold {
  /** At most so many tokens in the answer. */
  budget_tokens?: number;
  /** The hold. */
  hold_id: string;
  /** What to do. */
  action: "continue" | "step-over" | "step-into" | "step-out" | "skip" | "raise" | "modify" | "replace" | "inject" | "step" | "cancel";
  /** skip: the result, instead of running it. */
  value?: unknown;
  /** skip: the same as a Python literal. */
  literal?: string | null;
  /** modify: arguments by name (of a model: messages, system). */
  args?: Record<string, unknown>;
  /** modify: the same as Python literals. */
  literals?: Record<string, string>;
  /** raise: `ValueError`, or a dotted path. */
  exception?: string | null;
  /** raise, inject: the text. */
  message?: string | null;
  /** inject: user, assistant or system. */
  role?: string | null;
  /** replace: a registered function. */
  function?: string | null;
  /** Seconds to wait for that. */
  timeout?: number;
}

/** What a decision did to a call. */
export interface DecidedCall {
  /** What was decided. */
  action: string;
  /** What was decided and by whom, in one line. */
  text: string;
  /** Who decided. */
  by?: string;
  /** `before`, `after` or `exception`. */
  when?: string;
  /** `modify`: the arguments that were changed. */
  arguments?: ChangedArgument[];
  /** `skip`: what the caller got. */
  result?: Value;
  /** `raise`: what the caller got, as text. */
  exception?: string;
  /** `replace`: what ran instead. */
  function?: string;
  /** What the application said about how it carried it out. */
  note?: string;
}

/** A value that somebody decides on: `value`, `literal`, or `cid` with or without `data`. */
export interface DecidedValue {
  /** The value as JSON. */
  value?: unknown;
  /** The value as a Python literal. */
  literal?: string;
  /** The content id of a value that the server has. */
  cid?: string;
  /** With `cid`: the pickled value, in base64. */
  data?: string;
}

/** That something is gone. */
export interface Deleted {
  /** Always true. */
  deleted?: boolean;
}

/** A breakpoint that is gone. */
export interface DeletedBreakpoint {
  /** The id that it had. */
  breakpoint_id: string;
  /** Always true. */
  deleted?: boolean;
}

/** Captures that were deleted. */
export interface DeletedCaptures {
  /** How many. */
  deleted: number;
}

/** That several things are gone. */
export interface DeletedCount {
  /** How many there were. */
  deleted: number;
}

/** A profile that is gone. */
export interface DeletedProfile {
  /** The name that it had. */
  name: string;
  /** Always true. */
  deleted?: boolean;
}

/** A session that is gone. */
export interface DeletedSession {
  /** The id that it had. */
  session_id: string;
  /** Always true. */
  deleted?: boolean;
}

/** A watch that is gone. */
export interface DeletedWatch {
  /** The id that it had. */
  watch_id: string;
  /** Always true. */
  deleted?: boolean;
}

/** What the caller got instead of the function's own outcome, as decided after the call. */
export interface Delivered {
  /** The result that was returned. */
  result?: Value;
  /** The type of what was raised. */
  exception_type?: string;
  /** Its message. */
  exception_message?: string;
  /** Its content id. */
  exception_cid?: string;
  /** The exception that was raised. */
  exception?: Value;
}

/** A place at which two values differ. */
export interface Difference {
  /** Where, such as `[1].name`; `value` for the whole. */
  path: string;
  /** `changed`, `added` or `removed`. */
  change: string;
  /** What the first value has there. */
  left?: string;
  /** What the second value has there. */
  right?: string;
}

/** Where an editor joins a session: the address of a debug adapter. */
export interface EditorDoor {
  /** The session. */
  session_id: string;
  /** The host: always of this machine. */
  host: string;
  /** The port. */
  port: number;
}

/** Which application ends. */
export interface EndFields {
  /** The session that `POST /api/call/session` gave. */
  session_id: string;
}

/** Any error, of every status from 400 up. */
export interface ErrorAnswer {
  /** What went wrong, and what to do next. */
  error: ErrorDescription;
  /** The short name of the error, in lower case. */
  error_code: string;
}

/** What went wrong. */
export interface ErrorDescription {
  /** What it is, in upper case with its subject. */
  code: string;
  /** What happened. */
  message: string;
  /** What to do next. */
  hint: string | null;
  /** What it happened to: `field`, `state` and `possible`, ids, `reference`… */
  details: Record<string, unknown>;
}

/** Why a program could not be started. */
export interface ErrorDetails {
  /** The code of the error. */
  code: string;
  /** What went wrong. */
  message: string;
  /** What to do about it. */
  hint: string | null;
}

/** An exception as text. */
export interface ErrorText {
  /** The name of its class. */
  type: string;
  /** Its message. */
  message: string;
}

/** An expression to evaluate where the target is held. */
export interface Evaluate {
  /** A Python expression. */
  expression: string;
  /** The frame to evaluate it in; 0 is the innermost. */
  frame_id?: number;
  /** What the value is for; in a `repl`, statements are run too. */
  context?: "watch" | "repl" | "hover" | "clipboard" | "variables" | null;
  /** How many seconds it may take. */
  timeout?: number | null;
  /** How many characters of a value are shown at most; null: 1000, and 400 of a container. */
  max_chars?: number | null;
  /** In a program, of a value that is a string or bytes: where the part begins. */
  start?: number | null;
  /** In a program, of a value that is a string or bytes: how long the part is. */
  count?: number | null;
  /** Which of a session's held calls is meant. */
  hold_id?: string | null;
}

/** An expression to evaluate. */
export interface EvaluateHold {
  /** A Python expression. */
  expression: string;
  /** The frame to evaluate it in; 0 is the innermost. */
  frame_id?: number;
  /** What the value is for; in a `repl`, statements are run too. */
  context?: "watch" | "repl" | "hover" | "clipboard" | "variables" | null;
  /** How many seconds it may take. */
  timeout?: number | null;
  /** How many characters of a value are shown at most; null: 1000, and 400 of a container. */
  max_chars?: number | null;
  /** In a program, of a value that is a string or bytes: where the part begins. */
  start?: number | null;
  /** In a program, of a value that is a string or bytes: how long the part is. */
  count?: number | null;
}

/** What an expression raised. */
export interface EvaluationError {
  /** The name of the exception's class. */
  type?: string;
  /** The exception's message. */
  message?: string;
}

/** Something that happened in a session. */
export type Event =
  | ProgramEvent
  | CallEvent
  | AgentEvent;

/** Some events of one session, oldest first. */
export interface EventList {
  /** What happened. */
  events: Event[];
  /** The number up to which events were looked at: the next `since`. */
  last_seq: number;
  /** Whether there are more: ask again from `last_seq`. */
  has_more: boolean;
}

/** Which exceptions stop a program. */
export interface ExceptionBreakpoints {
  /** `raised`, `uncaught` and `userUnhandled`, those that are on. */
  filters: string[];
  /** Class names that these are narrowed to. */
  types: string[];
}

/** A breakpoint of an exported session. */
export interface ExportedBreakpoint {
  /** The path of the file. */
  file?: string | null;
  /** The file, in another form. */
  source?: BreakpointSource | null;
  /** The line, counted from 1. */
  line?: number | null;
  /** Instead of a line: a function, such as `module.func` or `Class.method`, or a pattern of names with `*`, `?` and `[…]`. */
  function?: string | null;
  /** Stop only where this expression is true. */
  condition?: string | null;
  /** On which hits: `N`, `== N`, `> N`, `>= N`, `< N`, `<= N`, `% N`. */
  hit_condition?: string | number | null;
  /** Write this, with `{expressions}` filled in, and do not stop. */
  log_message?: string | null;
  /** Whether it is on. */
  enabled?: boolean;
  /** Whether a missing file is an error. */
  strict?: boolean;
  /** The id that it had. In the new session it has another one. */
  id?: string | null;
}

/** Which exceptions stop an exported session's program. */
export interface ExportedExceptionBreakpoints {
  /** `raised`, `uncaught` and `userUnhandled`, those that are on. */
  filters: string[];
  /** Class names that these are narrowed to. */
  types: string[];
  /** Whether those inside libraries are left out. */
  user_code_only: boolean;
}

/** Which exceptions stop an exported session's program. */
export interface ExportedExceptions {
  /** Which moments stop it. */
  filters?: ("raised" | "uncaught" | "userUnhandled")[];
  /** Class names that these are narrowed to. */
  types?: string[];
  /** Whether those inside libraries are left out. */
  user_code_only?: boolean;
}

/** Enough to make the same session elsewhere: `POST /sessions/import` takes it. */
export interface ExportedSession {
  /** The version of this format. */
  version?: number;
  /** The session's name. */
  name: string | null;
  /** The session's settings. */
  config: ExportedSettings;
  /** What it launched. */
  launch: LaunchOptions | null;
  /** What it attached to. */
  attach: AttachOptions | null;
  /** Its breakpoints. */
  breakpoints: BreakpointFields[];
  /** Which exceptions stop it. */
  exception_breakpoints: ExportedExceptionBreakpoints;
  /** The expressions that it watches. */
  watches: string[];
}

/** Those settings of a session that were given. */
export interface ExportedSettings {
  /** The session's name. */
  name?: string;
  /** The project directory. */
  cwd?: string;
  /** How long it may be idle. */
  timeout_minutes?: number;
  /** How many bytes of output it keeps. */
  output_limit_bytes?: number;
  /** How many seconds an expression may take. */
  evaluate_timeout?: number;
}

/** The condition of a breakpoint, which raised for the first time in this run. */
export interface FailedCondition {
  /** The breakpoint's id. */
  breakpoint_id: string;
  /** The condition. */
  expression: string;
  /** What it raised. */
  error: string;
}

/** An error as applications that report calls know it; its details stand beside these. */
export interface FlatErrorAnswer {
  /** The short name of the error. */
  error: string;
  /** What happened. */
  message: string;
}

/** One frame of a stack. */
export interface Frame {
  /** The frame's id, valid until its thread runs. From 0 up they mean the thread that the session shows; other threads have ids of their own. */
  id?: number;
  /** The function's name. */
  name?: string;
  /** The same name. */
  function?: string;
  /** The function's qualified name, if known. */
  qualname?: string;
  /** The path of the file. */
  file?: string;
  /** The line that runs. */
  line?: number;
  /** The module's name. */
  module?: string;
  /** Whether it is code of a library. */
  library?: boolean;
}

/** Functions that were registered or called. */
export interface FunctionList {
  /** The functions. */
  functions: FunctionSummary[];
  /** How many there are. */
  total: number;
}

/** A function that was registered or called. */
export interface FunctionSummary {
  /** Its id, made from its names: a function has the same one in every server. */
  function_id: string;
  /** Its name. */
  name: string;
  /** The name that the application gave the object. */
  alias: string | null;
  /** Its qualified name. */
  qualname: string | null;
  /** Its module. */
  module: string | null;
  /** Its signature. */
  signature: string | null;
  /** The file that defines it. */
  file: string | null;
  /** The line of its definition. */
  line: number | null;
  /** Its content id. */
  target_cid: string | null;
  /** The sessions that use it. */
  sessions: string[];
  /** How often it was called. */
  calls: number;
}

/** Whether the server is well. */
export interface Health {
  /** `ok`, or `degraded` while something is not on disk yet. */
  status: string;
  /** The server's version. */
  version: string;
  /** How long the server has been running. */
  uptime_seconds: number;
  /** How many program sessions there are. */
  sessions: number;
  /** How many sessions of calls there are. */
  call_sessions: number;
  /** How many agent sessions there are. */
  agent_sessions: number;
  /** How many sessions have a target that runs or waits. */
  active_sessions: number;
  /** How many events could not be stored. */
  dropped_events: number;
  /** What went wrong and was worked around. */
  warnings: ServerWarning[];
}

/** What a held call has for a parameter. */
export interface HeldArgument {
  /** The parameter, or `args[0]` if its name is not known. */
  name: string;
  /** The value as text; `<missing>` if there is none. */
  text: string;
  /** Whether it was passed; otherwise it is the default. */
  is_passed: boolean;
}

/** A child process, or one of its own children, that is held at a stop. */
export interface HeldChild {
  /** The session of the child. */
  session_id: string;
  /** Its process id. */
  pid: number | null;
  /** The session of the program that started it. */
  parent_id: string;
  /** Why it stopped. */
  reason: string;
  /** Where it stopped. */
  location: Location | null;
  /** The hold that waits for a decision. */
  hold_id: string;
}

/** A point where a target waits for a decision. */
export interface HeldTarget {
  /** The id of the hold. */
  hold_id: string;
  /** The session whose target waits. */
  session_id: string;
  /** program, calls or agent. */
  kind: string;
  /** stop; of a call before, after, exception; of an agent model, tool, error. */
  moment: string;
  /** The name of the session. */
  owner?: string;
  /** The function, tool or model that is held. */
  what?: string;
  /** Why it is held. */
  reason?: string;
  /** The line that waits, or that makes the call. */
  at?: string;
  /** Of an agent: the iteration, and the lane if several. */
  turn?: string;
  /** Of a tool: the id of its call. */
  tool_id?: string;
  /** Of a call: its id. */
  call_id?: string;
  /** The arguments, by name, as text. */
  arguments?: Record<string, string>;
  /** Expressions that were asked for, in the frame of the caller. */
  values?: Record<string, string>;
  /** Of a model call: the messages that it adds, as `author: text`. */
  messages?: string[];
  /** What it returned. */
  result?: string;
  /** What it raised. */
  exception?: string;
  /** For how many seconds. */
  waits?: number;
  /** What becomes of it if nobody decides, and when. */
  timeout?: string;
  /** The actions that decide it. */
  allows?: string[];
  /** The functions that `replace` takes. */
  replacements?: string[];
  /** If it is settled: by which action, and by whom. */
  outcome?: string;
  /** The signature of the call. */
  signature?: string;
  /** Who makes the call, innermost first, as `function file:line`. */
  stack?: string[];
}

/** What to do about a hold: an action, and the fields of that action. */
export interface HoldDecision {
  /** One of the hold's `allows`. */
  action?: string;
  /** Who decides; whoever comes second is told. */
  by?: string | null;
  /** How long to wait for the next stop or the end: seconds, `true` or `false`. */
  wait?: boolean | number | string | null;
  /** What the answer at a stop carries out of `source`, `locals`, `stack` and `output`: a list, or names with commas; null: `source` and `locals`. */
  include?: string[] | string | null;
  /** With `output`: only what came after this cursor; null: what no answer of this run has shown yet. */
  output_since?: string | number | null;
  /** With `output`: how many bytes of it at most, the newest; null: 65,536. */
  output_bytes?: number | null;
  /** An agent's hold: how many seconds the agent may take; at most 300. */
  timeout?: number;
  /** For skip (before), skip (after), skip (exception): the result that the caller gets. For skip (model), skip (tool), skip (error): the result that the agent gets. */
  fake_result?: DecidedValue;
  /** For skip (before), skip (after), skip (exception): the content id of the result. */
  fake_result_cid?: string;
  /** For skip (before), skip (after), skip (exception): the pickled result, in base64. */
  fake_result_data?: string;
  /** For raise (before), raise (after), raise (exception): a builtin exception's name, or a dotted path. For raise (model), raise (tool), raise (error): a builtin's name, or a dotted path. */
  exception_type?: string;
  /** For raise (before), raise (after), raise (exception), raise (model), raise (tool), raise (error): the message of the exception. */
  exception_message?: string;
  /** For raise (before), raise (after), raise (exception): the positional arguments of its constructor as values, instead of the message. */
  exception_args?: unknown[];
  /** For raise (before), raise (after), raise (exception): the keyword arguments of its constructor as values, by name. */
  exception_kwargs?: Record<string, unknown>;
  /** For raise (before), raise (after), raise (exception): the exception itself, instead of its type. */
  exception?: DecidedValue;
  /** For raise (before), raise (after), raise (exception): the content id of the exception. */
  exception_cid?: string;
  /** For raise (before), raise (after), raise (exception): the pickled exception, in base64. */
  exception_data?: string;
  /** For modify (before): the positional arguments as values; null, or a place left out, keeps the argument. */
  modified_args?: unknown[];
  /** For modify (before): arguments as values, by parameter name, however they were passed. */
  modified_kwargs?: Record<string, unknown>;
  /** For replace (before): the name under which it was registered. */
  function_name?: string;
  /** For modify (model), modify (tool): the changed input. */
  input?: Record<string, unknown>;
  /** For modify (model), modify (tool): the changed input. */
  modified_input?: DecidedValue;
  /** For modify (model): the messages alone, instead of the whole input. */
  messages?: unknown[];
  /** For modify (model): the system prompt alone, wherever the call has it. */
  system?: string;
  /** For skip (model), skip (tool), skip (error): the result that the agent gets. */
  result?: unknown;
  /** For inject (model): whom the message comes from. */
  role?: string;
  /** For inject (model): the text of the message. */
  content?: string | unknown[];
}

/** Everything that waits for a decision. */
export interface HoldList {
  /** The open holds, oldest first. */
  holds: (ProgramHold | CallHold | AgentHold)[];
  /** How many they are. */
  total: number;
}

/** What came of a decision. */
export interface HoldOutcome {
  /** The hold that it settled. */
  hold_id: string;
  /** The session. */
  session_id: string;
  /** What was decided. */
  action: string;
  /** Where the session is now: running, paused, terminated… */
  status: string;
  /** The function, tool or model. */
  what?: string;
  /** Of a call: `calls_search` has it. */
  call_id?: string;
  /** The arguments that it changed, as text. */
  changed?: Record<string, string>;
  /** What it returned then. */
  result?: string;
  /** What it raised then. */
  exception?: string;
  /** What else is to be said. */
  message?: string;
  /** Of a program: where it is now, and what is new. */
  report?: Report;
  /** What the session holds now. */
  held?: HeldTarget[];
  /** What the actions take: fields of `hold_decide`, by action. */
  takes?: Record<string, string>;
  /** What is left out, and how to see it. */
  omitted?: string[];
}

/** What waits for a decision. */
export interface HoldReport {
  /** How many holds there are. */
  total: number;
  /** The holds, oldest first. */
  holds: HeldTarget[];
  /** What the actions take: fields of `hold_decide`, by action. */
  takes?: Record<string, string>;
  /** What else is to be said. */
  message?: string;
  /** What is left out, and how to see it. */
  omitted?: string[];
}

/** The value of what stands at a place in the source. */
export interface Hover {
  /** The variable's name, or the key or index of an item. */
  name?: string;
  /** Of an item of a sequence: its index. */
  index?: number;
  /** The value as text; of bytes, in base64. */
  value?: string;
  /** Of an expression: its value as text. */
  result?: string;
  /** The name of its class. */
  type?: string;
  /** How many items, characters or bytes it has. */
  length?: number;
  /** How many of its children are items; the attributes come after. */
  indexed?: number;
  /** Of a collection with attributes of its own: how many it has. */
  attributes?: number;
  /** Of a part of a string or of bytes: where it begins. */
  start?: number;
  /** Of such a part: whether more follows it. */
  has_more?: boolean;
  /** Of an array or a table: its dimensions. */
  shape?: number[];
  /** Of an array: the type of its elements. */
  dtype?: string;
  /** Of a table: the names of its columns. */
  columns?: string[];
  /** `base64`, where the value is bytes. */
  encoding?: string;
  /** Whether the text is cut. */
  truncated?: boolean;
  /** What the value's own repr raised. */
  repr_error?: string;
  /** Whether it can be unfolded. */
  expandable?: boolean;
  /** The number to unfold it with, or to read a long string with, until its thread runs; 0: none. */
  variable_reference?: number;
  /** The same number. */
  reference?: number;
  /** The expression that was evaluated. */
  expression?: string;
}

/** What to look at: `expression`, or what stands at `line` and `column`. */
export interface HoverRequest {
  /** A name, an attribute or an item. */
  expression?: string | null;
  /** The frame whose names are meant; 0 is the innermost. */
  frame_id?: number;
  /** The path of the file; null: the frame's. */
  file?: string | null;
  /** A line of that file. */
  line?: number | null;
  /** A column of that line. */
  column?: number | null;
}

/** What `GET /sessions/{session_id}/export` gave. */
export interface ImportSession {
  /** The version of the format. */
  version?: 1;
  /** The session's name, if `config` has none. */
  name?: string | null;
  /** The session's settings. */
  config?: SessionSettings | null;
  /** What it launched. */
  launch?: LaunchRequest | null;
  /** What it attached to. */
  attach?: AttachRequest | null;
  /** Its breakpoints. */
  breakpoints?: ExportedBreakpoint[];
  /** Which exceptions stop it. */
  exception_breakpoints?: ExportedExceptions | null;
  /** The expressions that it watches. */
  watches?: string[];
}

/** That input was written to the program's stdin; with `wait`, what came of it. */
export interface InputAccepted {
  /** The id of the session. */
  session_id: string;
  /** Where the session is: created, launching, running, paused, waiting_for_input, terminated or failed. */
  status: string;
  /** Why it is paused (breakpoint, data breakpoint, step, pause, exception…), or ended. */
  reason?: string | null;
  /** While paused: the line about to run. */
  location?: Location | null;
  /** The thread that stopped. */
  thread_id?: number;
  /** The breakpoint that it stopped at. */
  breakpoint_id?: string;
  /** All breakpoints at that place. */
  breakpoint_ids?: string[];
  /** If it stopped because a condition raised; see `message`. */
  condition_error?: FailedCondition;
  /** The exception that it stopped at, or that ended it. */
  exception?: ThrownException;
  /** The write that it stopped at. */
  data?: DataChange;
  /** What the function just left returned. */
  returned?: Variable[];
  /** The hold that waits for a decision. */
  hold_id?: string | null;
  /** What may mislead: a changed source, lost tracing, a lost debugger. */
  warnings?: string[];
  /** While it reads its stdin: the line that it asks with. */
  prompt?: string;
  /** How the process ended, if that is known. */
  exit_code?: number | null;
  /** The signal that ended it, such as SIGKILL. */
  signal?: string;
  /** After a bad end: the last lines that it wrote to stderr. */
  stderr_tail?: string;
  /** At the end: the breakpoints that were never hit in this run. */
  never_hit?: UnhitBreakpoint[];
  /** At the end: the expressions of breakpoints that raised in this run. */
  condition_errors?: ConditionError[];
  /** Why it could not be started. */
  error_details?: ErrorDetails;
  /** The threads that stand at a stop of their own. */
  stopped_threads?: Thread[];
  /** Every thread, with its status. */
  all_threads?: Thread[];
  /** While paused, if there are watches: each with its value at this stop. */
  watches?: Watch[];
  /** The breakpoints that came with the start, as they are now. */
  breakpoints_set?: BreakpointAnswer[];
  /** With `include`: what this run wrote and no answer has shown; its end. Neighbours of one stream are one entry. */
  output?: OutputEntry[];
  /** With `output`: how much there was, and how much of it is left out. */
  output_counts?: OutputCounts;
  /** With `output`: its end, from which `GET /output?since=` goes on. */
  output_cursor?: string;
  /** With `include`: the line about to run, with a few around it. */
  source?: SourceContext | null;
  /** With `include`: the local variables of the top frame. */
  locals?: Variable[];
  /** How many locals there are, if not all are shown. */
  locals_total?: number;
  /** With `include`: the innermost frames. */
  stack?: Frame[];
  /** How many frames there are. */
  stack_total?: number;
  /** That the session will expire soon. */
  warning?: string;
  /** The step went over a call into native code. */
  native_frame?: boolean;
  /** It has not stopped yet: it is busy outside Python. */
  pause_pending?: boolean;
  /** Of a pending pause: where the thread is busy. */
  busy_at?: Location;
  /** After a pause: who waits for whom in a circle, a sentence each. */
  deadlocks?: string[];
  /** What `native_frame`, `pause_pending` or `held_children` means. */
  message?: string;
  /** The child processes, and theirs, that are held. They end a wait once. */
  held_children?: HeldChild[];
  /** The action that was decided. */
  action?: string;
  /** The program runs on by itself. */
  detached?: boolean;
  /** The thread that was let go. */
  resumed_thread_id?: number;
  /** How many bytes. */
  bytes: number;
  /** Always true. */
  accepted?: boolean;
}

/** A page of what a value holds. */
export interface ItemPage {
  /** Its items, attributes or entries. */
  items: Variable[];
  /** How many there are. */
  total: number;
  /** Whether there are more after these. */
  has_more: boolean;
  /** The index of the first one shown. */
  start: number;
  /** The reference that was unfolded. */
  variable_reference?: number;
}

/** How a process joins the session that was opened for it. */
export interface JoinInvitation {
  /** The session. */
  session_id: string;
  /** A private file with the address to connect to and a secret. */
  ticket: string;
  /** The directory of the code that it loads. */
  probe: string;
  /** The directory that debugpy is in. */
  debugpy: string;
}

/** A process that wants to be debugged. */
export interface JoinRequest {
  /** The process. */
  pid: number;
  /** What its session is called. */
  name?: string | null;
}

/** Events of all sessions, in the order in which the server heard of them. */
export interface LatestEvents {
  /** What happened, oldest first. */
  events: Event[];
  /** Where the next answer goes on. */
  cursor: string;
  /** Whether there are more: ask again from `cursor`. */
  has_more: boolean;
  /** Whether something between the cursor and the first event is not known any more; each session's own list has it. */
  missed: boolean;
}

/** What to start, and how. */
export interface LaunchOptions {
  /** The path of a script, or of a directory or zip file with a `__main__.py`. */
  script?: string | null;
  /** A module to run, as `python -m` does. */
  module?: string | null;
  /** A piece of code to run, as `python -c` does. */
  code?: string | null;
  /** The program's command line arguments. */
  args?: string[];
  /** Environment variables to set; null removes one. */
  env?: Record<string, string | null>;
  /** The working directory; null: the session's, else the script's directory. */
  cwd?: string | null;
  /** Directories that are put first in the import path. */
  pythonpath?: string[] | string;
  /** The Python interpreter to use. */
  python_path?: string | null;
  /** Flags of the interpreter, such as `-O`, `-X dev` or `-W error`, one item a word. */
  python_args?: string[];
  /** The virtual environment whose Python is used. */
  venv?: string | null;
  /** What the program reads from its stdin first. */
  stdin_inputs?: string[];
  /** Whether its stdin, stdout and stderr are a terminal. It echoes what is written to stdin, `\u0003` there interrupts the program, and all output is of type stdout. */
  terminal?: boolean;
  /** The columns and rows of the terminal. */
  terminal_size?: number[];
  /** Whether exceptions of the user's code stop it; `uncaught`: only uncaught ones. */
  stop_on_exception?: boolean | "uncaught";
  /** Whether it stops at its first line. */
  stop_on_entry?: boolean;
  /** Whether `raised` and step-into skip libraries. */
  just_my_code?: boolean;
  /** Whether each child process becomes a session of its own. */
  debug_subprocesses?: boolean;
  /** Whether a stop holds every thread. */
  stop_all_threads?: boolean;
  /** How to reach the program; `adapter` goes through debugpy's own adapter. */
  route?: "auto" | "direct" | "adapter";
}

/** A program to start: one of `script`, `module` and `code`.

Without any of them, it is what the session launched before, or what its original launched: a
clone or an import may be launched with `{}`. Other fields that are given replace those of it. */
export interface LaunchRequest {
  /** The path of a script, or of a directory or zip file with a `__main__.py`. */
  script?: string | null;
  /** A module to run, as `python -m` does. */
  module?: string | null;
  /** A piece of code to run, as `python -c` does. */
  code?: string | null;
  /** The program's command line arguments. */
  args?: string[];
  /** Environment variables to set; null removes one. */
  env?: Record<string, string | null>;
  /** The working directory; null: the session's, else the script's directory. */
  cwd?: string | null;
  /** Directories that are put first in the import path. */
  pythonpath?: string[] | string;
  /** The Python interpreter to use. */
  python_path?: string | null;
  /** Flags of the interpreter, such as `-O`, `-X dev` or `-W error`, one item a word. */
  python_args?: string[];
  /** The virtual environment whose Python is used. */
  venv?: string | null;
  /** What the program reads from its stdin first. */
  stdin_inputs?: string[];
  /** Whether its stdin, stdout and stderr are a terminal. It echoes what is written to stdin, `\u0003` there interrupts the program, and all output is of type stdout. */
  terminal?: boolean;
  /** The columns and rows of the terminal. */
  terminal_size?: number[];
  /** Whether exceptions of the user's code stop it; `uncaught`: only uncaught ones. */
  stop_on_exception?: boolean | "uncaught";
  /** Whether it stops at its first line. */
  stop_on_entry?: boolean;
  /** Whether `raised` and step-into skip libraries. */
  just_my_code?: boolean;
  /** Whether each child process becomes a session of its own. */
  debug_subprocesses?: boolean;
  /** Whether a stop holds every thread. */
  stop_all_threads?: boolean;
  /** How to reach the program; `adapter` goes through debugpy's own adapter. */
  route?: "auto" | "direct" | "adapter";
  /** Another name for `script`. */
  program?: string | null;
  /** Another name for `python_path`. */
  python?: string | null;
  /** Breakpoints to set before the program starts: one, or a list; those it has stay. */
  breakpoints?: BreakpointSpec | BreakpointSpec[] | null;
  /** Which exceptions stop the program; null: as they are set. */
  exception_filters?: ("raised" | "uncaught" | "userUnhandled")[] | null;
  /** How long to wait for the next stop or the end: seconds, `true` or `false`. */
  wait?: boolean | number | string | null;
  /** What the answer at a stop carries out of `source`, `locals`, `stack` and `output`: a list, or names with commas; null: `source` and `locals`. */
  include?: string[] | string | null;
  /** With `output`: only what came after this cursor; null: what no answer of this run has shown yet. */
  output_since?: string | number | null;
  /** With `output`: how many bytes of it at most, the newest; null: 65,536. */
  output_bytes?: number | null;
}

/** What a leased application must ask about, and where it sees that change. */
export interface Lease {
  /** The version of the rules. */
  epoch: number;
  /** The file in which the epoch and the server's heartbeat are. */
  board: string | null;
  /** The last digits of the numbers that the application gives. */
  lane: number;
  /** Calls that match one have to be started at the server. */
  rules: Rule[];
}

/** What waits for a decision: stopped programs, held calls and agents, with their actions. */
export interface ListHolds {
  /** At most so many tokens in the answer. */
  budget_tokens?: number;
  /** Only those of this session. */
  session_id?: string | null;
  /** Only this one, in full. */
  hold_id?: string | null;
  /** With hold_id: expressions, where a call waits. */
  evaluate?: string[];
  /** Seconds to wait until something is held. */
  wait?: number;
  /** Show values that look like secrets. */
  show_secrets?: boolean;
}

/** One breakpoint. */
export interface ListedBreakpoint {
  /** Its id, to remove it with. */
  id: string;
  /** Where it stops, as it can be written. */
  place: string;
  /** Whether it can stop the program. */
  verified: boolean;
  /** How often it was hit. */
  hits: number;
  /** Why it cannot stop, or what else is to be known. */
  message?: string;
  /** Whether this request set it. */
  is_new?: boolean;
}

/** One session. */
export interface ListedSession {
  /** Its id. */
  session_id: string;
  /** program, calls or agent. */
  kind: string;
  /** paused, running, waiting_for_input, terminated… */
  status: string;
  /** How long ago it was created. */
  age: string;
  /** Its name, or what it runs. */
  name?: string;
  /** Where it stands, as file:line. */
  at?: string;
  /** Why it stands, or ended. */
  reason?: string;
  /** Of a child process: the session of its parent. */
  parent_id?: string;
  /** Whether you started it. */
  is_yours?: boolean;
}

/** A place in source code. */
export interface Location {
  /** The path of the file. */
  file: string;
  /** The line, counted from 1. */
  line: number;
  /** The function that the line is in. */
  function?: string | null;
}

/** An application may report its calls; a leased one has a lease. */
export interface OpenedSession {
  /** Names the session in every report. */
  session_id: string;
  /** The server's process id. */
  server_pid: number;
  /** The server's version. */
  version: string;
  /** Leased: the version of the rules. */
  epoch?: number;
  /** Leased: the file with the epoch and the heartbeat. */
  board?: string | null;
  /** Leased: the last digits of the application's call numbers. */
  lane?: number;
  /** Leased: calls that match one start at the server. */
  rules?: Rule[];
}

/** That the output so far is forgotten. */
export interface OutputCleared {
  /** Where new output begins. */
  cursor: string;
  /** Always true. */
  cleared?: boolean;
}

/** How much output there was after a cursor, and how much of it an answer leaves out. */
export interface OutputCounts {
  /** The cursor after which it is counted. */
  since: string;
  /** How many entries there are, shown or not. */
  entries: number;
  /** How many bytes they have. */
  bytes: number;
  /** How many entries are not shown: the first ones. */
  omitted: number;
  /** How many bytes are not shown. */
  omitted_bytes: number;
  /** How many entries were gone: more than are kept. */
  dropped: number;
}

/** Something that the program wrote. */
export interface OutputEntry {
  /** stdout, stderr or log. */
  type?: string;
  /** What was written. */
  text?: string;
  /** When, as an ISO 8601 time in UTC. */
  timestamp?: string;
  /** Its number: a cursor. */
  seq?: number;
  /** The run of the program that wrote it, from 1 on. */
  run?: number;
  /** Only its end is shown: so many bytes before it are left out. */
  omitted_bytes?: number;
  /** Of a logpoint: the file that it is in. */
  file?: string;
  /** Of a logpoint: its line. */
  line?: number;
  /** Of a logpoint: its id. */
  breakpoint_id?: string;
}

/** What a program wrote after a cursor. */
export interface OutputPage {
  /** What was written, in order. */
  outputs: OutputEntry[];
  /** Where the next answer goes on. */
  cursor: string;
  /** Whether there is more: ask again. */
  has_more: boolean;
  /** How many entries after the cursor were gone. */
  dropped: number;
}

/** That the session is kept alive. */
export interface PingAnswer {
  /** The id of the session. */
  session_id: string;
  /** Where the session is: created, launching, running, paused, waiting_for_input, terminated or failed. */
  status: string;
  /** Until it is ended as idle. */
  expires_in_seconds: number;
}

/** The call that a change was made before. */
export interface Place {
  /** The model calls of the lane so far, with that one. */
  iteration: number;
  /** Which agent of the process; left out for the main one. */
  lane?: string;
}

/** What a held call waits for. */
export interface PollAnswer {
  /** `waiting`: nobody has decided yet. `ready`: `action` says what to do. `evaluate`: evaluate `expression` and POST the answer. `check`: try `action` without doing it, and POST whether it can be done; only applications that say `checks` get this. */
  status: string;
  /** `ready`, `check`: the decision. */
  action?: CallInstruction;
  /** `evaluate`, `check`: names the question in its answer. `ready`: of the check. */
  request_id?: string;
  /** `evaluate`: the expression. */
  expression?: string;
  /** `evaluate`, `check`: for how many seconds somebody waits. */
  timeout?: number;
  /** `evaluate`: how many characters of the value are wanted. */
  max_chars?: number;
}

/** The Python processes of this machine. */
export interface ProcessList {
  /** The processes, by pid. */
  processes: PythonProcess[];
  /** How many there are. */
  total: number;
}

/** A named set of breakpoints. */
export interface ProfileAnswer {
  /** The profile's name. */
  name: string;
  /** Its breakpoints. */
  breakpoints: BreakpointFields[];
}

/** Every profile. */
export interface ProfileList {
  /** The profiles. */
  profiles: ProfileAnswer[];
  /** How many there are. */
  total: number;
}

/** The debugger is about to attach to a program that runs already. */
export interface ProgramAttachingEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "attaching";
  /** The same type. */
  type: "attaching";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The process, if it is attached to by its id. */
  pid: number | null;
  /** The host of a debugpy that listens. */
  host: string | null;
  /** The port of a debugpy that listens. */
  port: number | null;
}

/** A breakpoint was changed, or what a data breakpoint watches is gone. */
export interface ProgramBreakpointChangedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "breakpoint_changed";
  /** The same type. */
  type: "breakpoint_changed";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The breakpoint's id within its session. */
  breakpoint_id: string;
  /** The same id. */
  id: string;
  /** What it is on: line, function or data. */
  kind: string;
  /** Whether it can fire; if not, see `message`. */
  verified: boolean;
  /** Whether it is on. */
  enabled: boolean;
  /** Who wants it: `rest`, an in-process `controller`, `editor:1`… */
  set_by: string[];
  /** How often it was reached. */
  hits: number;
  /** Who did it: `rest`, `controller`, `editor:1`…, or the `program`. */
  by: string;
  /** The path of its file. */
  file?: string;
  /** Its line. */
  line?: number;
  /** The function that it stops in, or the pattern of their names. */
  function?: string;
  /** If there are several such functions: where each begins, up to 100. `file` and `line` are those of the last. */
  places?: Location[];
  /** It stops where this expression is true. */
  condition?: string;
  /** At which hits it stops, such as `>= 5`. */
  hit_condition?: string;
  /** It writes this, and does not stop. */
  log_message?: string;
  /** Of a data breakpoint: the place that it watches. */
  data_id?: string;
  /** Of a data breakpoint: `write`, or `change` if only other values count. */
  access_type?: string;
  /** Of a data breakpoint: what it watches, as it was named. */
  expression?: string;
  /** Its file once more. */
  source?: SourcePath;
  /** Why it cannot fire, what it does not notice, or what its condition raised. */
  message?: string;
  /** A line that could be used instead. */
  suggestion?: SuggestedLine;
}

/** An expression of a breakpoint raised an exception, for the first time in this run.

If it was the condition, the program stopped there, once; a breakpoint that logs did not stop. */
export interface ProgramBreakpointErrorEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "breakpoint_error";
  /** The same type. */
  type: "breakpoint_error";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The id of the breakpoint. */
  breakpoint_id: string;
  /** What the expression raised. */
  error: string;
  /** The expression. */
  expression: string;
  /** Where it stands: condition or log_message. */
  field: string;
}

/** A breakpoint was removed. */
export interface ProgramBreakpointRemovedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "breakpoint_removed";
  /** The same type. */
  type: "breakpoint_removed";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The id that it had. */
  breakpoint_id: string;
  /** Who removed it. */
  by: string;
}

/** A breakpoint was set. */
export interface ProgramBreakpointSetEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "breakpoint_set";
  /** The same type. */
  type: "breakpoint_set";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The breakpoint's id within its session. */
  breakpoint_id: string;
  /** The same id. */
  id: string;
  /** What it is on: line, function or data. */
  kind: string;
  /** Whether it can fire; if not, see `message`. */
  verified: boolean;
  /** Whether it is on. */
  enabled: boolean;
  /** Who wants it: `rest`, an in-process `controller`, `editor:1`… */
  set_by: string[];
  /** How often it was reached. */
  hits: number;
  /** Who did it: `rest`, `controller`, `editor:1`…, or the `program`. */
  by: string;
  /** The path of its file. */
  file?: string;
  /** Its line. */
  line?: number;
  /** The function that it stops in, or the pattern of their names. */
  function?: string;
  /** If there are several such functions: where each begins, up to 100. `file` and `line` are those of the last. */
  places?: Location[];
  /** It stops where this expression is true. */
  condition?: string;
  /** At which hits it stops, such as `>= 5`. */
  hit_condition?: string;
  /** It writes this, and does not stop. */
  log_message?: string;
  /** Of a data breakpoint: the place that it watches. */
  data_id?: string;
  /** Of a data breakpoint: `write`, or `change` if only other values count. */
  access_type?: string;
  /** Of a data breakpoint: what it watches, as it was named. */
  expression?: string;
  /** Its file once more. */
  source?: SourcePath;
  /** Why it cannot fire, what it does not notice, or what its condition raised. */
  message?: string;
  /** A line that could be used instead. */
  suggestion?: SuggestedLine;
}

/** The file or function of a breakpoint was missing and is there now: it can fire. */
export interface ProgramBreakpointVerifiedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "breakpoint_verified";
  /** The same type. */
  type: "breakpoint_verified";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The id of the breakpoint. */
  breakpoint_id: string;
  /** The path of its file. */
  file?: string;
  /** Its line; of a function, that of its `def`. */
  line?: number;
  /** The function or pattern, if it names one. */
  function?: string;
}

/** All breakpoints were removed. */
export interface ProgramBreakpointsClearedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "breakpoints_cleared";
  /** The same type. */
  type: "breakpoints_cleared";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** How many there were. */
  count: number;
}

/** A process that the program started became a session of its own. */
export interface ProgramChildSessionEvent {
  /** Its number within its session. */
  seq: number;
  /** The session of the child: not the one whose list has the event. */
  session_id: string;
  /** Its type. */
  event: "child_session";
  /** The same type. */
  type: "child_session";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The child's process id. */
  pid: number | null;
}

/** Settings of the session were changed. The event has those that were given. */
export interface ProgramConfiguredEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "configured";
  /** The same type. */
  type: "configured";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The session's name. */
  name?: string | null;
  /** The project directory. */
  cwd?: string | null;
  /** How long it may be idle. */
  timeout_minutes?: number | null;
  /** How many bytes of output it keeps. */
  output_limit_bytes?: number | null;
  /** How many seconds an expression may take. */
  evaluate_timeout?: number | null;
}

/** The program, or one thread of it, runs on. */
export interface ProgramContinuedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "continued";
  /** The same type. */
  type: "continued";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The action that was decided, such as continue or step-over. */
  action: string;
  /** Who decided it. */
  by: string;
  /** The thread, if only one of several runs on. */
  thread_id?: number;
}

/** The session was created. */
export interface ProgramCreatedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "created";
  /** The same type. */
  type: "created";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The session's name. */
  name: string | null;
  /** Of a child process: the session of its parent. */
  parent_id?: string;
  /** It was made from an exported session. */
  imported?: boolean;
}

/** The debugger in the program is gone, and the program runs on without it. */
export interface ProgramDebuggerDisconnectedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "debugger_disconnected";
  /** The same type. */
  type: "debugger_disconnected";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** connection_lost; or exec: the program was replaced by another in its process. */
  reason: string;
  /** What that means, and what to do. */
  message: string;
  /** Of exec: the command line that follows. */
  command?: string[];
}

/** A program session on its own: its status, and its configuration. */
export interface ProgramDetail {
  /** Which kind of target it is of. */
  kind: "program";
  /** The id of the session. */
  session_id: string;
  /** Where the session is: created, launching, running, paused, waiting_for_input, terminated or failed. */
  status: string;
  /** Why it is paused (breakpoint, data breakpoint, step, pause, exception…), or ended. */
  reason?: string | null;
  /** While paused: the line about to run. */
  location?: Location | null;
  /** The thread that stopped. */
  thread_id?: number;
  /** The breakpoint that it stopped at. */
  breakpoint_id?: string;
  /** All breakpoints at that place. */
  breakpoint_ids?: string[];
  /** If it stopped because a condition raised; see `message`. */
  condition_error?: FailedCondition;
  /** The exception that it stopped at, or that ended it. */
  exception?: ThrownException;
  /** The write that it stopped at. */
  data?: DataChange;
  /** What the function just left returned. */
  returned?: Variable[];
  /** The hold that waits for a decision. */
  hold_id?: string | null;
  /** What may mislead: a changed source, lost tracing, a lost debugger. */
  warnings?: string[];
  /** While it reads its stdin: the line that it asks with. */
  prompt?: string;
  /** How the process ended, if that is known. */
  exit_code?: number | null;
  /** The signal that ended it, such as SIGKILL. */
  signal?: string;
  /** After a bad end: the last lines that it wrote to stderr. */
  stderr_tail?: string;
  /** At the end: the breakpoints that were never hit in this run. */
  never_hit?: UnhitBreakpoint[];
  /** At the end: the expressions of breakpoints that raised in this run. */
  condition_errors?: ConditionError[];
  /** Why it could not be started. */
  error_details?: ErrorDetails;
  /** The threads that stand at a stop of their own. */
  stopped_threads?: Thread[];
  /** Every thread, with its status. */
  all_threads?: Thread[];
  /** What it watches; while paused, with the values. */
  watches: Watch[];
  /** The breakpoints that came with the start, as they are now. */
  breakpoints_set?: BreakpointAnswer[];
  /** With `include`: what this run wrote and no answer has shown; its end. Neighbours of one stream are one entry. */
  output?: OutputEntry[];
  /** With `output`: how much there was, and how much of it is left out. */
  output_counts?: OutputCounts;
  /** The cursor of what it wrote last. */
  output_cursor: string;
  /** With `include`: the line about to run, with a few around it. */
  source?: SourceContext | null;
  /** With `include`: the local variables of the top frame. */
  locals?: Variable[];
  /** How many locals there are, if not all are shown. */
  locals_total?: number;
  /** With `include`: the innermost frames. */
  stack?: Frame[];
  /** How many frames there are. */
  stack_total?: number;
  /** That the session will expire soon. */
  warning?: string;
  /** The step went over a call into native code. */
  native_frame?: boolean;
  /** It has not stopped yet: it is busy outside Python. */
  pause_pending?: boolean;
  /** Of a pending pause: where the thread is busy. */
  busy_at?: Location;
  /** After a pause: who waits for whom in a circle, a sentence each. */
  deadlocks?: string[];
  /** What `native_frame`, `pause_pending` or `held_children` means. */
  message?: string;
  /** The child processes, and theirs, that are held. They end a wait once. */
  held_children?: HeldChild[];
  /** The action that was decided. */
  action?: string;
  /** The program runs on by itself. */
  detached?: boolean;
  /** The thread that was let go. */
  resumed_thread_id?: number;
  /** The name that it was given. */
  name: string | null;
  /** When, as an ISO 8601 time in UTC. */
  created_at: string;
  /** Of a child process: its parent's session. */
  parent_id?: string;
  /** Of a session of an earlier server: whether it can be restarted. */
  recoverable?: boolean;
  /** Its project directory, if one was given. */
  cwd: string | null;
  /** The project whose breakpoints it shares. */
  project: string | null;
  /** How long it may be idle. */
  timeout_minutes: number;
  /** Until it is ended as idle. */
  expires_in_seconds: number;
  /** What it launched, with every option. */
  launch: LaunchOptions | null;
  /** What it attached to, with every option. */
  attach: AttachOptions | null;
  /** How many breakpoints it has. */
  breakpoints: number;
  /** Which exceptions stop it. */
  exception_breakpoints: ExceptionBreakpoints;
  /** The sessions of its child processes. */
  children: string[];
  /** The processes that it started. */
  subprocesses: Subprocess[];
  /** The program's process. */
  pid: number | null;
  /** The version of its Python. */
  python_version: string | null;
  /** How it is reached: direct, child, pid… */
  route: string | null;
  /** The number of its last run; 0 before the first. */
  run: number;
  /** The number of its newest event. */
  last_event: number;
}

/** An event of a program. */
export type ProgramEvent =
  | ProgramCreatedEvent
  | ProgramConfiguredEvent
  | ProgramLaunchingEvent
  | ProgramAttachingEvent
  | ProgramRouteChangedEvent
  | ProgramStartedEvent
  | ProgramStoppedEvent
  | ProgramContinuedEvent
  | ProgramPauseRequestedEvent
  | ProgramVariableSetEvent
  | ProgramInputWantedEvent
  | ProgramInputGivenEvent
  | ProgramSubprocessSpawnedEvent
  | ProgramChildSessionEvent
  | ProgramBreakpointSetEvent
  | ProgramBreakpointChangedEvent
  | ProgramBreakpointRemovedEvent
  | ProgramBreakpointsClearedEvent
  | ProgramBreakpointVerifiedEvent
  | ProgramBreakpointErrorEvent
  | ProgramExceptionBreakpointsSetEvent
  | ProgramDebuggerDisconnectedEvent
  | ProgramTracingLostEvent
  | ProgramTracingRestoredEvent
  | ProgramNotSavedEvent
  | ProgramSavedEvent
  | ProgramExpiredEvent
  | ProgramTerminatingEvent
  | ProgramJumpedEvent
  | ProgramTerminatedEvent;

/** A client chose which exceptions stop the program. */
export interface ProgramExceptionBreakpointsSetEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "exception_breakpoints_set";
  /** The same type. */
  type: "exception_breakpoints_set";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Which ones: raised, uncaught or userUnhandled. */
  filters: string[];
  /** The classes that stop; empty for all. */
  types: string[];
  /** Whose choice it is: `rest`, `controller`, `editor:1`… */
  by: string;
}

/** The session was idle for too long. The server ends it and forgets it. */
export interface ProgramExpiredEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "expired";
  /** The same type. */
  type: "expired";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** How long it was allowed to be idle. */
  timeout_minutes: number;
}

/** A stop of a program. */
export interface ProgramHold {
  /** Which kind of target it is of. */
  kind: "program";
  /** The id of the hold. */
  hold_id: string;
  /** The same id. */
  id: string;
  /** The session whose target waits. */
  session_id: string;
  /** Why it waits: breakpoint, step, pause, exception… */
  reason: string;
  /** Since when, as an ISO 8601 time in UTC. */
  opened_at: string;
  /** The thread that waits, if one does. */
  thread_id: number | null;
  /** Where it waits, if that is known. */
  location: Location | null;
  /** The actions that decide it. */
  allows: string[];
  /** One hold: whether it still waits for a decision. */
  open?: boolean;
}

/** A client wrote to the program's stdin. */
export interface ProgramInputGivenEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "input_given";
  /** The same type. */
  type: "input_given";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** How many bytes were written. */
  bytes: number;
  /** Whether stdin was closed after them. */
  closed: boolean;
}

/** The program waits for input. */
export interface ProgramInputWantedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "input_wanted";
  /** The same type. */
  type: "input_wanted";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The last line that it wrote without an end. */
  prompt: string;
}

/** A client set the line at which a held thread goes on. */
export interface ProgramJumpedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "jumped";
  /** The same type. */
  type: "jumped";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The thread. */
  thread_id: number;
  /** The path of the file. */
  file: string;
  /** The line. */
  line: number;
}

/** A program is about to be started. */
export interface ProgramLaunchingEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "launching";
  /** The same type. */
  type: "launching";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The script, the module or the code. */
  target: string;
  /** The program's command line arguments. */
  args: string[];
  /** The directory that it runs in. */
  cwd: string;
}

/** The session could not be saved, for example because the disk is full. */
export interface ProgramNotSavedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "not_saved";
  /** The same type. */
  type: "not_saved";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Why it could not be saved. */
  message: string;
}

/** A client asked the program to pause. `stopped` follows when it does. */
export interface ProgramPauseRequestedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "pause_requested";
  /** The same type. */
  type: "pause_requested";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The thread that is to pause; null for any. */
  thread_id: number | null;
}

/** The debugger could not start in the program. The program is started in another way. */
export interface ProgramRouteChangedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "route_changed";
  /** The same type. */
  type: "route_changed";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The other way: always `adapter`. */
  route: string;
  /** Why the first way failed. */
  why: string;
}

/** How programs are reached. */
export interface ProgramRoutes {
  /** How they are reached as a rule. */
  default: string;
  /** How they are reached where that fails. */
  fallback: string;
  /** Why it failed last. */
  fallback_reason: string | null;
  /** How each session's program is reached, by id. */
  sessions: Record<string, string>;
}

/** The session could be saved again, after `not_saved`. */
export interface ProgramSavedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "saved";
  /** The same type. */
  type: "saved";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
}

/** The program runs, with the debugger in it. */
export interface ProgramStartedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "started";
  /** The same type. */
  type: "started";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its process id, if it is known. */
  pid: number | null;
  /** How it was reached: direct, pid or adapter. */
  route: string;
}

/** Where a program is: running, or at a stop, or over. */
export interface ProgramStatus {
  /** The id of the session. */
  session_id: string;
  /** Where the session is: created, launching, running, paused, waiting_for_input, terminated or failed. */
  status: string;
  /** Why it is paused (breakpoint, data breakpoint, step, pause, exception…), or ended. */
  reason?: string | null;
  /** While paused: the line about to run. */
  location?: Location | null;
  /** The thread that stopped. */
  thread_id?: number;
  /** The breakpoint that it stopped at. */
  breakpoint_id?: string;
  /** All breakpoints at that place. */
  breakpoint_ids?: string[];
  /** If it stopped because a condition raised; see `message`. */
  condition_error?: FailedCondition;
  /** The exception that it stopped at, or that ended it. */
  exception?: ThrownException;
  /** The write that it stopped at. */
  data?: DataChange;
  /** What the function just left returned. */
  returned?: Variable[];
  /** The hold that waits for a decision. */
  hold_id?: string | null;
  /** What may mislead: a changed source, lost tracing, a lost debugger. */
  warnings?: string[];
  /** While it reads its stdin: the line that it asks with. */
  prompt?: string;
  /** How the process ended, if that is known. */
  exit_code?: number | null;
  /** The signal that ended it, such as SIGKILL. */
  signal?: string;
  /** After a bad end: the last lines that it wrote to stderr. */
  stderr_tail?: string;
  /** At the end: the breakpoints that were never hit in this run. */
  never_hit?: UnhitBreakpoint[];
  /** At the end: the expressions of breakpoints that raised in this run. */
  condition_errors?: ConditionError[];
  /** Why it could not be started. */
  error_details?: ErrorDetails;
  /** The threads that stand at a stop of their own. */
  stopped_threads?: Thread[];
  /** Every thread, with its status. */
  all_threads?: Thread[];
  /** While paused, if there are watches: each with its value at this stop. */
  watches?: Watch[];
  /** The breakpoints that came with the start, as they are now. */
  breakpoints_set?: BreakpointAnswer[];
  /** With `include`: what this run wrote and no answer has shown; its end. Neighbours of one stream are one entry. */
  output?: OutputEntry[];
  /** With `output`: how much there was, and how much of it is left out. */
  output_counts?: OutputCounts;
  /** With `output`: its end, from which `GET /output?since=` goes on. */
  output_cursor?: string;
  /** With `include`: the line about to run, with a few around it. */
  source?: SourceContext | null;
  /** With `include`: the local variables of the top frame. */
  locals?: Variable[];
  /** How many locals there are, if not all are shown. */
  locals_total?: number;
  /** With `include`: the innermost frames. */
  stack?: Frame[];
  /** How many frames there are. */
  stack_total?: number;
  /** That the session will expire soon. */
  warning?: string;
  /** The step went over a call into native code. */
  native_frame?: boolean;
  /** It has not stopped yet: it is busy outside Python. */
  pause_pending?: boolean;
  /** Of a pending pause: where the thread is busy. */
  busy_at?: Location;
  /** After a pause: who waits for whom in a circle, a sentence each. */
  deadlocks?: string[];
  /** What `native_frame`, `pause_pending` or `held_children` means. */
  message?: string;
  /** The child processes, and theirs, that are held. They end a wait once. */
  held_children?: HeldChild[];
  /** The action that was decided. */
  action?: string;
  /** The program runs on by itself. */
  detached?: boolean;
  /** The thread that was let go. */
  resumed_thread_id?: number;
}

/** A thread of the program stopped. */
export interface ProgramStoppedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "stopped";
  /** The same type. */
  type: "stopped";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Why: breakpoint, step, pause, exception… */
  reason: string;
  /** The thread that stopped. */
  thread_id: number;
  /** Where it stopped, if that is known. */
  location: Location | null;
  /** The breakpoints that it stopped at. */
  breakpoint_ids: string[];
  /** The hold that it opened; left out while the session shows another stop. */
  hold_id?: string;
}

/** The program started a process. */
export interface ProgramSubprocessSpawnedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "subprocess_spawned";
  /** The same type. */
  type: "subprocess_spawned";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Its process id. */
  pid: number;
  /** How it was started: spawn, fork, exec… */
  how: string;
  /** Its command line. */
  command: string[];
  /** Whether it is followed as a session. */
  debuggable: boolean;
  /** Why it is not followed. */
  message?: string;
}

/** A program session as a list shows it. */
export interface ProgramSummary {
  /** Which kind of target it is of. */
  kind: "program";
  /** The id of the session. */
  session_id: string;
  /** Where the session is: created, launching, running, paused, waiting_for_input, terminated or failed. */
  status: string;
  /** Why it is paused (breakpoint, data breakpoint, step, pause, exception…), or ended. */
  reason?: string | null;
  /** While paused: the line about to run. */
  location?: Location | null;
  /** The thread that stopped. */
  thread_id?: number;
  /** The breakpoint that it stopped at. */
  breakpoint_id?: string;
  /** All breakpoints at that place. */
  breakpoint_ids?: string[];
  /** If it stopped because a condition raised; see `message`. */
  condition_error?: FailedCondition;
  /** The exception that it stopped at, or that ended it. */
  exception?: ThrownException;
  /** The write that it stopped at. */
  data?: DataChange;
  /** What the function just left returned. */
  returned?: Variable[];
  /** The hold that waits for a decision. */
  hold_id?: string | null;
  /** What may mislead: a changed source, lost tracing, a lost debugger. */
  warnings?: string[];
  /** While it reads its stdin: the line that it asks with. */
  prompt?: string;
  /** How the process ended, if that is known. */
  exit_code?: number | null;
  /** The signal that ended it, such as SIGKILL. */
  signal?: string;
  /** After a bad end: the last lines that it wrote to stderr. */
  stderr_tail?: string;
  /** At the end: the breakpoints that were never hit in this run. */
  never_hit?: UnhitBreakpoint[];
  /** At the end: the expressions of breakpoints that raised in this run. */
  condition_errors?: ConditionError[];
  /** Why it could not be started. */
  error_details?: ErrorDetails;
  /** The threads that stand at a stop of their own. */
  stopped_threads?: Thread[];
  /** Every thread, with its status. */
  all_threads?: Thread[];
  /** While paused, if there are watches: each with its value at this stop. */
  watches?: Watch[];
  /** The breakpoints that came with the start, as they are now. */
  breakpoints_set?: BreakpointAnswer[];
  /** With `include`: what this run wrote and no answer has shown; its end. Neighbours of one stream are one entry. */
  output?: OutputEntry[];
  /** With `output`: how much there was, and how much of it is left out. */
  output_counts?: OutputCounts;
  /** With `output`: its end, from which `GET /output?since=` goes on. */
  output_cursor?: string;
  /** With `include`: the line about to run, with a few around it. */
  source?: SourceContext | null;
  /** With `include`: the local variables of the top frame. */
  locals?: Variable[];
  /** How many locals there are, if not all are shown. */
  locals_total?: number;
  /** With `include`: the innermost frames. */
  stack?: Frame[];
  /** How many frames there are. */
  stack_total?: number;
  /** That the session will expire soon. */
  warning?: string;
  /** The step went over a call into native code. */
  native_frame?: boolean;
  /** It has not stopped yet: it is busy outside Python. */
  pause_pending?: boolean;
  /** Of a pending pause: where the thread is busy. */
  busy_at?: Location;
  /** After a pause: who waits for whom in a circle, a sentence each. */
  deadlocks?: string[];
  /** What `native_frame`, `pause_pending` or `held_children` means. */
  message?: string;
  /** The child processes, and theirs, that are held. They end a wait once. */
  held_children?: HeldChild[];
  /** The action that was decided. */
  action?: string;
  /** The program runs on by itself. */
  detached?: boolean;
  /** The thread that was let go. */
  resumed_thread_id?: number;
  /** The name that it was given. */
  name: string | null;
  /** When, as an ISO 8601 time in UTC. */
  created_at: string;
  /** Of a child process: its parent's session. */
  parent_id?: string;
  /** Of a session of an earlier server: whether it can be restarted. */
  recoverable?: boolean;
}

/** The program ended, could not be started, or was let go. */
export interface ProgramTerminatedEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "terminated";
  /** The same type. */
  type: "terminated";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Why: target_exited, terminated, detached, deleted, timeout… or an error code. */
  reason: string;
  /** Its exit code, if it is known. */
  exit_code: number | null;
  /** The signal that ended it, such as SIGKILL. */
  signal?: string;
  /** The exception that ended it, such as `ValueError: no such key`. */
  exception?: string;
}

/** A client asked to end the program. */
export interface ProgramTerminatingEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "terminating";
  /** The same type. */
  type: "terminating";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** Who asked for it, if that is known, such as an editor. */
  by: string | null;
}

/** The program, or a library such as coverage.py, took the debugger's tracing away. */
export interface ProgramTracingLostEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "tracing_lost";
  /** The same type. */
  type: "tracing_lost";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The thread that no longer stops; null for all. */
  thread_id: number | null;
  /** The function that was called, such as sys.settrace. */
  how: string;
  /** Where it was called. */
  location: Location | null;
  /** What that means, and what to do. */
  message: string;
}

/** The program gave the debugger's tracing back, after `tracing_lost`. */
export interface ProgramTracingRestoredEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "tracing_restored";
  /** The same type. */
  type: "tracing_restored";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The thread that stops again. */
  thread_id: number | null;
}

/** A client gave a variable another value. */
export interface ProgramVariableSetEvent {
  /** Its number within its session. */
  seq: number;
  /** The session that it is of. */
  session_id: string;
  /** Its type. */
  event: "variable_set";
  /** The same type. */
  type: "variable_set";
  /** When, as an ISO 8601 time in UTC. */
  timestamp: string | null;
  /** The name of the variable. */
  name: string;
  /** A preview of its new value. */
  value: string | null;
}

/** A Python process of this machine. */
export interface PythonProcess {
  /** The process id. */
  pid: number;
  /** The name of its executable. */
  name: string;
  /** Its command line. */
  cmdline: string[];
  /** Its working directory, if that may be read. */
  cwd: string | null;
  /** Whose process it is. */
  user: string | null;
  /** The version of its Python, if its name says so. */
  python: string | null;
  /** When it started, in seconds since the epoch. */
  create_time: number;
  /** Whether it can be attached to. */
  debuggable: boolean;
  /** Why it cannot. */
  reason: string | null;
  /** The port of a debugpy that was told to listen. */
  listening: number | null;
}

/** A report was taken. */
export interface Receipt {
  /** `ok`; `late` for the answer to a question that nobody waits for any more. */
  status?: string;
}

/** Why an application cannot carry out a decision. */
export interface RefusalFields {
  /** What is wrong with it. */
  message?: string;
  /** What to do instead. */
  hint?: string;
  /** The field of the decision that is wrong. */
  field?: string;
  /** What would work, such as the functions that fit. */
  choices?: string[];
}

/** A function that an application has at hand. Only `name` is needed. */
export interface RegistrationFields {
  /** The function's name. */
  name?: string;
  /** The session; left out, the server's implicit one. */
  session_id?: string;
  /** The name that the application gave the object. */
  alias?: string;
  /** The function's qualified name. */
  qualname?: string;
  /** The function's module. */
  module?: string;
  /** The function's signature. */
  signature?: string;
  /** The file that defines it. */
  file?: string;
  /** The line of its definition. */
  line?: number;
  /** Its content id. */
  target_cid?: string;
  /** Its parameters, without `self`. */
  parameters?: SentParameter[];
}

/** A call breakpoint that is gone, and the calls that it still holds. */
export interface RemovedCallBreakpoint {
  /** The id that it had. */
  breakpoint_id: string;
  /** Always true. */
  deleted?: boolean;
  /** The holds of its that are still open; `release` continues them. */
  holds?: string[];
  /** The holds that were continued. */
  released?: string[];
  /** How to continue what is still held. */
  hint?: string;
}

/** Where a program is, and what is new since the last report. */
export interface Report {
  /** paused, running, waiting_for_input, terminated or failed. */
  status: string;
  /** The session. */
  session_id: string;
  /** Why it stopped, or ended. */
  reason?: string;
  /** The line about to run, as file:line. */
  at?: string;
  /** The function there; left out of steps within it. */
  function?: string;
  /** What else is to be said. */
  message?: string;
  /** What the evaluated code raised, or why it could not be evaluated. */
  error?: string;
  /** Which Python runs it, and how that was found. */
  environment?: string;
  /** The exception, if that is the reason. */
  exception?: ReportedException;
  /** The lines around, with their numbers; `>` marks the current one. */
  source?: string[];
  /** Variables that are new or changed since the last report. */
  locals?: Record<string, string>;
  /** What the changed ones were before. */
  was?: Record<string, string>;
  /** Variables that are no more. */
  gone?: string[];
  /** How many variables are as they were. */
  unchanged?: number;
  /** What the function just left returned. */
  returned?: Record<string, string>;
  /** Expressions that were asked for, and watches. */
  values?: Record<string, string>;
  /** The callers, innermost first, as `function file:line`. */
  stack?: string[];
  /** Of several steps: where each led, and what it changed. */
  steps?: string[];
  /** The threads, and where each of them is. */
  threads?: string[];
  /** The breakpoints, if they were asked for. */
  breakpoints?: string[];
  /** The expressions whose values `rows` has, after the place. */
  columns?: string[];
  /** With `collect`: a row for each hit, with its place first. */
  rows?: string[][];
  /** How many hits there were. */
  hits?: number;
  /** What it wrote since the last report: the end of it. */
  output?: string;
  /** Of a program that reads its stdin: what it asks. */
  prompt?: string;
  /** How it ended. */
  exit_code?: number | null;
  /** At the end: breakpoints that were never hit, as file:line. */
  never_hit?: string[];
  /** Breakpoints that cannot stop, conditions that raised, warnings. */
  problems?: string[];
  /** What is left out, and how to see it. */
  omitted?: string[];
  /** What can be done next. */
  next?: string;
}

/** A recorded call. */
export interface ReportedCall {
  /** The id of the call. */
  call_id: string;
  /** The function, and the object's alias. */
  function: string;
  /** What was passed, by parameter, as text. */
  arguments?: Record<string, string>;
  /** What it returned. */
  result?: string;
  /** What it raised. */
  exception?: string;
  /** running or lost, if it has not ended. */
  status?: string;
  /** How long it took. */
  ms?: number;
  /** What somebody decided about it. */
  decided?: string;
  /** In a tree: how many calls it was made within. */
  depth?: number;
}

/** An exception that led to another. */
export interface ReportedCause {
  /** The name of its class. */
  type: string;
  /** Its message. */
  message: string;
  /** `cause`, `context` or `member` of a group. */
  relation: string;
  /** Where it was raised, as file:line. */
  at?: string;
  /** The text of that line. */
  text?: string;
  /** The variables there. */
  locals?: Record<string, string>;
}

/** An exception that a program stopped at, or that ended it. */
export interface ReportedException {
  /** The name of its class. */
  type: string;
  /** Its message; of a failed assertion, its operands. */
  message: string;
  /** What led to it, nearest first. */
  causes?: ReportedCause[];
  /** The frames that matter, where it was raised first. */
  frames?: ReportedFrame[];
}

/** A frame that matters. */
export interface ReportedFrame {
  /** Its place, as file:line. */
  at: string;
  /** Its function. */
  function: string;
  /** The line's text. */
  text?: string;
  /** Its variables, as text. */
  locals?: Record<string, string>;
}

/** What to change before a program is run over; what is left out stays. */
export interface RestartRequest {
  /** How long to wait for the next stop or the end: seconds, `true` or `false`. */
  wait?: boolean | number | string | null;
  /** What the answer at a stop carries out of `source`, `locals`, `stack` and `output`: a list, or names with commas; null: `source` and `locals`. */
  include?: string[] | string | null;
  /** With `output`: only what came after this cursor; null: what no answer of this run has shown yet. */
  output_since?: string | number | null;
  /** With `output`: how many bytes of it at most, the newest; null: 65,536. */
  output_bytes?: number | null;
  /** The thread to run; null: the one that stopped. */
  thread_id?: number | null;
  /** Of an agent: the lane that is meant; null: all. */
  lane?: string | null;
  /** Who decides; whoever comes second is told. */
  by?: string | null;
  /** Other command line arguments. */
  args?: string[] | null;
  /** Other environment variables. */
  env?: Record<string, string | null> | null;
  /** Whether it stops at its first line. */
  stop_on_entry?: boolean | null;
  /** Whether exceptions of the user's code stop it. */
  stop_on_exception?: boolean | "uncaught" | null;
}

/** As much of a breakpoint as tells whether it could concern a function. */
export interface Rule {
  /** A function's name, or a pattern. */
  function: string | null;
  /** An alias, or a pattern. */
  alias: string | null;
  /** `proxy` or `inline`. */
  call_type: string | null;
  /** The one session that it counts in. */
  session_id: string | null;
  /** `before`, `after` or `exception`. */
  when: string;
  /** Whether it is in force. */
  enabled: boolean;
}

/** Options of every request that makes a program run. */
export interface RunRequest {
  /** How long to wait for the next stop or the end: seconds, `true` or `false`. */
  wait?: boolean | number | string | null;
  /** What the answer at a stop carries out of `source`, `locals`, `stack` and `output`: a list, or names with commas; null: `source` and `locals`. */
  include?: string[] | string | null;
  /** With `output`: only what came after this cursor; null: what no answer of this run has shown yet. */
  output_since?: string | number | null;
  /** With `output`: how many bytes of it at most, the newest; null: 65,536. */
  output_bytes?: number | null;
  /** The thread to run; null: the one that stopped. */
  thread_id?: number | null;
  /** Of an agent: the lane that is meant; null: all. */
  lane?: string | null;
  /** Who decides; whoever comes second is told. */
  by?: string | null;
}

/** A named set of breakpoints. */
export interface SaveProfile {
  /** The name of the profile, of at most 200 characters. */
  name: string;
  /** Its breakpoints. */
  breakpoints: BreakpointSpec[];
}

/** A scope of a frame. */
export interface Scope {
  /** Locals or Globals. */
  name: string;
  /** The number to list its variables with. */
  reference: number;
  /** How many variables it has. */
  count: number;
  /** The same number as `reference`. */
  variable_reference: number;
}

/** The scopes of a frame. */
export interface ScopeList {
  /** Locals and Globals. */
  scopes: Scope[];
}

/** Search the calls that applications recorded, newest first; or show one, or its tree. */
export interface SearchCalls {
  /** At most so many tokens in the answer. */
  budget_tokens?: number;
  /** Name, or pattern such as `Cart.*`. */
  function?: string | null;
  /** `item == 'tea'`, `args[0] > 10`, `status == 'exception'`, `duration > 1`. */
  where?: string | null;
  /** Only those of this session. */
  session_id?: string | null;
  /** Only this one, in full. */
  call_id?: string | null;
  /** With call_id: the calls made within it. */
  tree?: boolean;
  /** `older` of the last answer. */
  before?: string | null;
  /** At most so many. */
  limit?: number;
  /** Show values that look like secrets. */
  show_secrets?: boolean;
}

/** What to write to a program's stdin. */
export interface SendInput {
  /** The text, with its line ends. */
  input?: string | null;
  /** Another name for `input`. */
  text?: string | null;
  /** Whether stdin ends after this. */
  close?: boolean;
  /** How long to wait for the next stop or the end: seconds, `true` or `false`. */
  wait?: boolean | number | string | null;
  /** What the answer at a stop carries out of `source`, `locals`, `stack` and `output`: a list, or names with commas; null: `source` and `locals`. */
  include?: string[] | string | null;
  /** With `output`: only what came after this cursor; null: what no answer of this run has shown yet. */
  output_since?: string | number | null;
  /** With `output`: how many bytes of it at most, the newest; null: 65,536. */
  output_bytes?: number | null;
}

/** Where and when a call is made. */
export interface SentCallSite {
  /** Seconds since the epoch. */
  timestamp?: number;
  /** The object that the call is made on. */
  target_cid?: string;
  /** The frames, innermost first. */
  stack_trace?: SentFrame[];
}

/** The values that a call left different from how it found them. */
export interface SentChanges {
  /** Positional arguments, by index. */
  args?: Record<string, SentItem>;
  /** Keyword arguments, by name. */
  kwargs?: Record<string, SentItem>;
  /** The object that the call was made on. */
  target?: SentItem;
}

/** What people see of a default value. */
export interface SentDefault {
  /** The value as text. */
  text?: string;
  /** The name of its type. */
  type?: string;
  /** Its length, if it has one. */
  length?: number;
  /** The value itself, if it is small plain data. */
  json?: unknown;
  /** Why the value itself is not in the bytes, in one word. */
  marker?: string;
  /** The value as a Python literal, if it has no `json`. */
  literal?: string;
}

/** A frame of the application's stack. */
export interface SentFrame {
  /** The path of the file. */
  filename?: string;
  /** The line. */
  lineno?: number;
  /** The function. */
  function?: string;
  /** The text of the line. */
  code_context?: string;
}

/** A value of a call. `data` and `preview` come with its first use only. */
export interface SentItem {
  /** The content id: the SHA-256 of the bytes, in hex. */
  cid?: string;
  /** The pickled value, in base64. */
  data?: string;
  /** What people see of it. */
  preview?: SentPreview;
}

/** A parameter of a function. `name` and `kind` are needed. */
export interface SentParameter {
  /** The name. */
  name?: string;
  /** `positional_only`, `positional_or_keyword`, `var_positional`, `keyword_only` or `var_keyword`. */
  kind?: string;
  /** The default value, if there is one. */
  default?: SentDefault;
}

/** What people see of a value. */
export interface SentPreview {
  /** The value as text. */
  text?: string;
  /** The name of its type. */
  type?: string;
  /** Its length, if it has one. */
  length?: number;
  /** The value itself, if it is small plain data. */
  json?: unknown;
  /** Why the value itself is not in the bytes, in one word. */
  marker?: string;
}

/** The thread that makes a call. */
export interface SentThread {
  /** The thread's id. */
  id?: number;
  /** The thread's name. */
  name?: string;
}

/** A value that an application is to load. */
export interface SentValue {
  /** The content id: the SHA-256 of the bytes, in hex. */
  cid: string;
  /** The pickled value, in base64. */
  data?: string;
}

/** What the server is, and what it can do. */
export interface ServerInfo {
  /** Always `holdfast`. */
  name: string;
  /** The server's version. */
  version: string;
  /** The version of this interface. */
  api_version: string;
  /** The version of the server's Python. */
  python: string;
  /** The server's interpreter. */
  python_executable: string;
  /** The operating system. */
  platform: string;
  /** The version of debugpy. */
  debugpy: string;
  /** The server's process. */
  pid: number;
  /** The server's data directory. */
  data_dir: string;
  /** What the server can do. */
  capabilities: string[];
  /** Every status that a session may have. */
  session_states: string[];
  /** How programs are reached. */
  routes: ProgramRoutes;
  /** How many interpreters wait for a program, by path. */
  warm_interpreters: Record<string, number>;
  /** Where this interface is described. */
  documentation: string;
  /** The port on loopback at which editors get in, as debug adapter clients. */
  dap_port: number | null;
  /** The port on loopback to which `holdfast mcp` carries agents' messages. */
  mcp_port: number | null;
}

/** That the server knows the secret in `server.json`. */
export interface ServerProof {
  /** The HMAC-SHA256 of `holdfast server IP PORT NONCE` with the secret, in hex. */
  proof: string;
}

/** Something that went wrong and was worked around. */
export interface ServerWarning {
  /** What it is, in upper case. */
  code: string;
  /** What happened. */
  message: string;
  /** What it happened to. */
  details: Record<string, unknown>;
}

/** Sessions of every kind. */
export interface SessionList {
  /** The sessions, oldest first. */
  sessions: (ProgramSummary | CallSessionAnswer | AgentSummary)[];
  /** How many they are. */
  total: number;
}

/** Settings of a session; one that is left out stays as it is. */
export interface SessionSettings {
  /** The session's name. */
  name?: string | null;
  /** The project directory; relative paths start here. */
  cwd?: string | null;
  /** How long the session may be idle, in minutes; null: as the server's settings say. */
  timeout_minutes?: number | null;
  /** How many bytes of output are kept; null: as the server's settings say. */
  output_limit_bytes?: number | null;
  /** How many seconds an expression may take; null: as the server's settings say. */
  evaluate_timeout?: number | null;
}

/** The sessions, those that wait for somebody first. */
export interface SessionTable {
  /** The sessions. */
  sessions: ListedSession[];
  /** How many there are. */
  total: number;
  /** Captures of failing tests, the latest first. */
  captures?: string[];
  /** What is left out, and how to see it. */
  omitted?: string;
  /** What can be done next. */
  next?: string;
}

/** One breakpoint; or `breakpoints`, or the `profile` that has them: all are set or none is. */
export interface SetBreakpoints {
  /** The path of the file. */
  file?: string | null;
  /** The file, in another form. */
  source?: BreakpointSource | null;
  /** The line, counted from 1. */
  line?: number | null;
  /** Instead of a line: a function, such as `module.func` or `Class.method`, or a pattern of names with `*`, `?` and `[…]`. */
  function?: string | null;
  /** Stop only where this expression is true. */
  condition?: string | null;
  /** On which hits: `N`, `== N`, `> N`, `>= N`, `< N`, `<= N`, `% N`. */
  hit_condition?: string | number | null;
  /** Write this, with `{expressions}` filled in, and do not stop. */
  log_message?: string | null;
  /** Whether it is on. */
  enabled?: boolean;
  /** Whether a missing file is an error. */
  strict?: boolean;
  /** Several breakpoints, instead of one. */
  breakpoints?: BreakpointSpec[] | null;
  /** The name of a profile, instead of breakpoints. */
  profile?: string | null;
}

/** Which exceptions stop a program. */
export interface SetExceptionBreakpoints {
  /** Which moments stop it. */
  filters?: ("raised" | "uncaught" | "userUnhandled")[];
  /** Class names that these are narrowed to. */
  types?: string[];
}

/** A new value for a variable. */
export interface SetVariable {
  /** The name of the variable, or of a part of a value. */
  name: string;
  /** A Python expression for its new value. */
  value: string;
  /** How many seconds it may take. */
  timeout?: number | null;
}

/** The server's settings. */
export interface Settings {
  /** A session that nobody asks anything for this long ends, unless it runs. */
  idle_timeout_minutes?: number;
  /** How long before its end an idle session says so. */
  warning_minutes?: number;
  /** How many seconds a launch may take. */
  launch_timeout?: number;
  /** How many seconds attaching may take. */
  attach_timeout?: number;
  /** How many seconds the debugger may take for what runs no code of the user's. */
  request_timeout?: number;
  /** How many seconds an expression may take. */
  evaluate_timeout?: number;
  /** How many seconds a step waits for its stop, unless the request says so. */
  step_wait?: number;
  /** How many seconds `wait: true` waits; no wait is longer. */
  max_wait?: number;
  /** How many seconds a program has to act on SIGTERM before it is killed. */
  terminate_grace?: number;
  /** How much output each session keeps; the oldest goes first. */
  output_limit_bytes?: number;
  /** How many frames one answer may carry; the rest comes by paging. */
  max_stack_depth?: number;
  /** How many program sessions there may be. */
  max_sessions?: number;
  /** How many interpreters of each Python are kept warm, from the next start on. */
  pool_size?: number;
  /** How long a held call waits for its decision before its application gives up. */
  call_hold_timeout_ms?: number;
  /** How often an application that cannot wait in a request asks again. */
  call_poll_interval_ms?: number;
  /** How many calls are kept; the oldest go first, with their values. */
  calls_kept?: number;
  /** The largest value of a call that is kept. */
  call_max_value_bytes?: number;
}

/** A hold that nobody can decide any more. */
export interface SettledHold {
  /** The id of the hold. */
  hold_id: string;
  /** The same id. */
  id: string;
  /** The session whose target waits. */
  session_id: string;
  /** Why it waits: breakpoint, step, pause, exception… */
  reason: string;
  /** Since when, as an ISO 8601 time in UTC. */
  opened_at: string;
  /** The thread that waits, if one does. */
  thread_id: number | null;
  /** Where it waits, if that is known. */
  location: Location | null;
  /** The actions that decide it. */
  allows: string[];
  /** One hold: whether it still waits for a decision. */
  open?: boolean;
  /** program, calls or agent. */
  kind: string;
  /** The action that settled it, or `withdrawn`. */
  outcome: string;
  /** Who decided it. */
  by: string | null;
}

/** That the server is about to end. */
export interface ShuttingDown {
  /** Always `shutting_down`. */
  status?: string;
}

/** The line that is about to run, with a few around it. */
export interface SourceContext {
  /** The path of the file. */
  file: string;
  /** The line that is about to run. */
  line: number;
  /** Its text; null if the file is shorter now. */
  text: string | null;
  /** The lines around it, and itself. */
  context: SourceLine[];
}

/** A line of source code. */
export interface SourceLine {
  /** The line's number. */
  line: number;
  /** The line's text. */
  text: string;
}

/** A source by its path, as debug adapters name it. */
export interface SourcePath {
  /** The path of the file. */
  path: string;
}

/** The source of a file, or a part of it. */
export interface SourceText {
  /** The path of the file. */
  path: string;
  /** The same path. */
  file: string;
  /** The text. */
  content: string;
  /** The number of its first line. */
  start_line: number;
  /** How many lines the file has. */
  total_lines: number;
  /** Of a frame's source: the line that runs. */
  line?: number;
}

/** A page of a thread's stack, innermost frame first. */
export interface StackPage {
  /** The frames of this page. */
  frames: Frame[];
  /** How many frames there are. */
  total: number;
  /** The depth of the first one shown. */
  start: number;
  /** Whether there are frames below these. */
  has_more: boolean;
  /** The thread whose stack it is. */
  thread_id: number;
  /** The program could not answer: the stack was read from outside its interpreter. Its frames have no ids and no locals. */
  outside?: boolean;
  /** Of a stack read from outside: why that was needed. */
  message?: string;
}

/** What to do with a call that is about to be made. */
export interface StartAnswer {
  /** The action that was decided, or `poll` while the call is held. */
  action?: string;
  /** `skip`: the content id of the result that the caller gets. */
  fake_result_cid?: string;
  /** `skip`: the pickled result, in base64. */
  fake_result_data?: string;
  /** `raise`: a builtin exception's name, or a dotted path. */
  exception_type?: string;
  /** `raise`: the message of the exception. */
  exception_message?: string;
  /** `raise`: the content id of the exception itself. */
  exception_cid?: string;
  /** `raise`: the pickled exception, in base64. */
  exception_data?: string;
  /** `raise`: the positional arguments of the exception's constructor. */
  exception_args?: SentValue[];
  /** `raise`: the keyword arguments of the exception's constructor. */
  exception_kwargs?: Record<string, SentValue>;
  /** `modify`: the positional arguments; null keeps one. */
  modified_args?: (SentValue | null)[];
  /** `modify`: arguments by parameter name. */
  modified_kwargs?: Record<string, SentValue>;
  /** `replace`: the registered function to call instead. */
  function_name?: string;
  /** `poll`: the hold that was opened. */
  hold_id?: string;
  /** `poll`: the breakpoint that holds the call. */
  breakpoint_id?: string;
  /** `poll`: what that breakpoint matches, in words. */
  breakpoint?: string;
  /** `poll`: where to ask for the decision. */
  poll_url?: string;
  /** `poll`: how often to ask, without `wait`. */
  poll_interval_ms?: number;
  /** `poll`: after how long the call goes on undecided. */
  timeout_ms?: number;
  /** The id of the call. */
  call_id: string;
}

/** A call is about to be made. Only `method_name` is needed. */
export interface StartFields {
  /** The name of the function. */
  method_name?: string;
  /** The session; left out, the server's implicit one. */
  session_id?: string;
  /** The object that the call is made on. */
  target_cid?: string;
  /** The value of that object. */
  target?: SentItem;
  /** The positional arguments. */
  args?: SentItem[];
  /** The keyword arguments. */
  kwargs?: Record<string, SentItem>;
  /** Values that the others refer to. */
  needs?: SentItem[];
  /** Where and when it is made. */
  call_site?: SentCallSite;
  /** `proxy` (as a rule) or `inline`. */
  call_type?: string;
  /** The name that the application gave the object. */
  alias?: string;
  /** The function's signature. */
  signature?: string;
  /** The function's qualified name. */
  qualname?: string;
  /** The function's module. */
  module?: string;
  /** The thread that makes it. */
  thread?: SentThread;
  /** The name of the asyncio task. */
  task?: string;
  /** The call within which it is made. */
  parent_call_id?: string;
  /** The function's parameters, without `self`. Once for each function is enough. */
  parameters?: SentParameter[];
  /** Whether expressions can be evaluated in its caller. */
  evaluates?: boolean;
  /** The id of a call that is under way already. */
  began?: string;
  /** How long ago the object was compared with what is sent of it; left out, just now. */
  target_age_ns?: number;
}

/** A session that is gone. */
export interface StoppedSession {
  /** The id that it had. */
  session_id: string;
  /** Where its program was: paused, running, terminated… */
  was: string;
  /** The name that it had. */
  name?: string;
}

/** The sessions that were ended, and are forgotten. */
export interface StoppedSessions {
  /** Those that were ended. */
  stopped: StoppedSession[];
  /** What happened. */
  message: string;
  /** How many more there were. */
  omitted?: string;
}

/** A process that the program started. */
export interface Subprocess {
  /** Its process id. */
  pid: number;
  /** How it was started: spawn, fork, exec… */
  how: string;
  /** Its command line. */
  command: string[];
  /** Whether it is followed as a session. */
  debuggable: boolean;
  /** Why it is not followed. */
  message?: string;
}

/** Where a breakpoint could be instead. */
export interface SuggestedLine {
  /** A line that can stop. */
  line: number;
}

/** One asyncio task of the program. */
export interface Task {
  /** The task's name. */
  name?: string;
  /** The coroutine that it runs. */
  coroutine?: string;
  /** running or waiting. */
  state?: string;
  /** Whether its loop runs it now. */
  current?: boolean;
  /** Where it is. */
  location?: Location;
  /** Where it is, innermost first. */
  stack?: Location[];
  /** What it awaits. */
  waiting_for?: Record<string, unknown>;
}

/** Every asyncio task of the program. */
export interface TaskList {
  /** The tasks, and what each waits for. */
  tasks: Task[];
  /** How many there are. */
  total: number;
}

/** One thread of the program. */
export interface Thread {
  /** The thread's id. */
  thread_id?: number;
  /** The same id. */
  id?: number;
  /** The thread's name. */
  name?: string;
  /** Whether the program ends without waiting for it. */
  daemon?: boolean;
  /** paused or running. */
  status?: string;
  /** It waits in a lock, in C or asleep while another thread is held. It can be read, and is held as soon as it runs on. */
  blocked?: boolean;
  /** Where it is. */
  location?: Location | null;
  /** The breakpoint that it stands at. */
  breakpoint_id?: string;
  /** Read from outside the interpreter. */
  outside?: boolean;
  /** Seen from outside: it holds the interpreter's lock. */
  holds_gil?: boolean;
}

/** Every thread of the program. */
export interface ThreadList {
  /** The threads, held or running. */
  threads: Thread[];
  /** The program could not answer: read from outside its interpreter. */
  outside?: boolean;
  /** Of threads read from outside: why that was needed. */
  message?: string;
}

/** The exception that a program stopped at, or that ended it. */
export interface ThrownException {
  /** The name of its class. */
  type: string;
  /** The module of its class. */
  module: string;
  /** Its message. */
  message: string;
  /** Where it was raised; of an end, the nearest line of the user's own. */
  location: Location | null;
  /** The notes that were added to it. */
  notes?: string[];
  /** At an end: what led to it, nearest first. */
  causes?: Cause[];
  /** At an end: its traceback. The nearest frame of the user's own code is first, then the others, innermost first. */
  frames?: TracebackFrame[];
  /** How many frames its traceback has. */
  frames_total?: number;
}

/** One frame of the traceback of an exception that ended a program. */
export interface TracebackFrame {
  /** The frame's id, valid until its thread runs. From 0 up they mean the thread that the session shows; other threads have ids of their own. */
  id?: number;
  /** The function's name. */
  name?: string;
  /** The same name. */
  function?: string;
  /** The function's qualified name, if known. */
  qualname?: string;
  /** The path of the file. */
  file?: string;
  /** The line that runs. */
  line?: number;
  /** The module's name. */
  module?: string;
  /** Whether it is code of a library. */
  library?: boolean;
  /** 0 where it was raised, counting outwards. */
  depth?: number;
  /** The text of the line, if the file is there. */
  text?: string;
  /** Of the nearest frame of the user's own code: its variables at the end. */
  locals?: Variable[];
  /** How many variables it had. */
  locals_total?: number;
}

/** A reason why a condition or a filter had no answer for some calls; these did not match. */
export interface UndecidedCondition {
  /** What it could not tell, and why. */
  error: string;
  /** For how many calls. */
  count: number;
}

/** A breakpoint that was never hit in the run that ended. */
export interface UnhitBreakpoint {
  /** The breakpoint's id within its session. */
  breakpoint_id: string;
  /** The path of its file. */
  file?: string;
  /** Its line. */
  line?: number;
  /** The function that it stops in, if it names one. */
  function?: string;
  /** Whether it could have been hit. */
  verified: boolean;
  /** Its condition. */
  condition?: string;
  /** How often its line ran while the condition was false. */
  passes?: number;
  /** Why it was not hit, as far as that is known. */
  message: string;
}

/** A stored value, by its preview. */
export interface Value {
  /** The content id: GET /api/cid/{cid} has the bytes. */
  cid: string;
  /** The value as text, shortened if need be. */
  text: string;
  /** The name of its type. */
  type: string;
  /** Its length, if it has one. */
  length?: number;
  /** The value itself, if it is small plain data. */
  json?: unknown;
  /** Why the bytes describe the value and do not restore it: `lazy`, `iterator`, `generator`, `unpicklable`, `changing`, `too_large`, `not_captured` and others. */
  marker?: string;
  /** The parameter that it was passed for, in a hold. */
  name?: string;
}

/** Where two values differ, as far as their bytes tell. */
export interface ValueComparison {
  /** The first value. */
  left: Value;
  /** The second value. */
  right: Value;
  /** Whether no difference was found, and all was compared. */
  equal: boolean;
  /** Whether both have the same bytes. */
  identical: boolean;
  /** The first of them, by path. */
  differences: Difference[];
  /** Whether these are all differences. */
  complete: boolean;
}

/** A value as text, and a few facts about it. */
export interface Variable {
  /** The variable's name, or the key or index of an item. */
  name?: string;
  /** Of an item of a sequence: its index. */
  index?: number;
  /** The value as text; of bytes, in base64. */
  value?: string;
  /** Of an expression: its value as text. */
  result?: string;
  /** The name of its class. */
  type?: string;
  /** How many items, characters or bytes it has. */
  length?: number;
  /** How many of its children are items; the attributes come after. */
  indexed?: number;
  /** Of a collection with attributes of its own: how many it has. */
  attributes?: number;
  /** Of a part of a string or of bytes: where it begins. */
  start?: number;
  /** Of such a part: whether more follows it. */
  has_more?: boolean;
  /** Of an array or a table: its dimensions. */
  shape?: number[];
  /** Of an array: the type of its elements. */
  dtype?: string;
  /** Of a table: the names of its columns. */
  columns?: string[];
  /** `base64`, where the value is bytes. */
  encoding?: string;
  /** Whether the text is cut. */
  truncated?: boolean;
  /** What the value's own repr raised. */
  repr_error?: string;
  /** Whether it can be unfolded. */
  expandable?: boolean;
  /** The number to unfold it with, or to read a long string with, until its thread runs; 0: none. */
  variable_reference?: number;
  /** The same number. */
  reference?: number;
}

/** A page of the variables of a frame or a scope. */
export interface VariableList {
  /** The variables of this page. */
  variables: Variable[];
  /** How many there are. */
  total: number;
  /** Whether there are more after these. */
  has_more: boolean;
}

/** Something that a thread or a task waits for. */
export interface WaitedFor {
  /** lock, condition, event, semaphore, barrier, queue, future, thread, task, process lock, or exit. */
  kind?: string;
  /** What the waiting code calls it, such as `self.lock`, if that is known. */
  name?: string | null;
  /** A variable of the module that holds it under another name. */
  global_name?: string;
  /** The name of its class. */
  type?: string;
  /** Its address: the same for the same object. */
  id?: string;
}

/** An asyncio task that waits. */
export interface WaitingTask {
  /** The task's name. */
  task?: string;
  /** What it waits for. */
  waits_for?: WaitedFor;
  /** The tasks that must go on first, by name. */
  held_by?: string[];
  /** How they are known, or why they are not. */
  note?: string;
  /** Where it waits. */
  location?: Location;
}

/** A thread, and what it waits for. */
export interface WaitingThread {
  /** The thread's id. */
  thread_id?: number;
  /** The thread's name. */
  name?: string;
  /** paused (held by the debugger) or running. */
  status?: string;
  /** What it waits for; null: for nothing that is known. */
  waits_for?: WaitedFor | null;
  /** The thread that holds it, if there is one and it is known. */
  held_by?: number | null;
  /** How the holder is known, or why it is not. */
  note?: string;
  /** Where it waits, or is. */
  location?: Location;
}

/** A watched expression, with its value while the program is paused. */
export interface Watch {
  /** The variable's name, or the key or index of an item. */
  name?: string;
  /** Of an item of a sequence: its index. */
  index?: number;
  /** The value as text; of bytes, in base64. */
  value?: string;
  /** Of an expression: its value as text. */
  result?: string;
  /** The name of its class. */
  type?: string;
  /** How many items, characters or bytes it has. */
  length?: number;
  /** How many of its children are items; the attributes come after. */
  indexed?: number;
  /** Of a collection with attributes of its own: how many it has. */
  attributes?: number;
  /** Of a part of a string or of bytes: where it begins. */
  start?: number;
  /** Of such a part: whether more follows it. */
  has_more?: boolean;
  /** Of an array or a table: its dimensions. */
  shape?: number[];
  /** Of an array: the type of its elements. */
  dtype?: string;
  /** Of a table: the names of its columns. */
  columns?: string[];
  /** `base64`, where the value is bytes. */
  encoding?: string;
  /** Whether the text is cut. */
  truncated?: boolean;
  /** What the value's own repr raised. */
  repr_error?: string;
  /** Whether it can be unfolded. */
  expandable?: boolean;
  /** The number to unfold it with, or to read a long string with, until its thread runs; 0: none. */
  variable_reference?: number;
  /** The same number. */
  reference?: number;
  /** The watch's id. */
  id?: string;
  /** The same id. */
  watch_id?: string;
  /** The expression. */
  expression?: string;
  /** Why it has no value now. */
  error?: string;
}

/** Every watch of a session. */
export interface WatchList {
  /** The watches, in the order they were added. */
  watches: Watch[];
  /** How many there are. */
  total: number;
}

/** An expression that ends the run when it becomes true. */
export interface WatchUntil {
  /** How long to wait for the next stop or the end: seconds, `true` or `false`. */
  wait?: boolean | number | string | null;
  /** What the answer at a stop carries out of `source`, `locals`, `stack` and `output`: a list, or names with commas; null: `source` and `locals`. */
  include?: string[] | string | null;
  /** With `output`: only what came after this cursor; null: what no answer of this run has shown yet. */
  output_since?: string | number | null;
  /** With `output`: how many bytes of it at most, the newest; null: 65,536. */
  output_bytes?: number | null;
  /** The thread to run; null: the one that stopped. */
  thread_id?: number | null;
  /** Of an agent: the lane that is meant; null: all. */
  lane?: string | null;
  /** Who decides; whoever comes second is told. */
  by?: string | null;
  /** A Python expression. */
  expression: string;
  /** The frame whose names it means. */
  frame_id?: number;
}
