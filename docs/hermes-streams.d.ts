// Made by `python docs/contracts.py` from schemas/json; a test compares.

export interface AppliedStrategy {
  did: "nothing" | "review" | "skip" | "step" | "fallback";
  id: string;
  is_answered?: boolean | null;
  is_served: boolean;
  version: number;
}

export interface Attribution {
  call_id: string;
  cause: string;
  conditions?: Record<string, boolean>;
  evidence?: Array<Evidence>;
  is_defect: boolean;
  probabilities?: Record<string, number>;
  probability: number;
  schema: "attribution/1";
  status: string;
  stream_id: string;
  tool: string;
  ts?: number | null;
}

export type CallStatus = "ok" | "repaired" | "renamed" | "unknown_tool" | "refused" | "unparseable" | "truncated";

export interface CallWarning {
  candidates?: Array<Record<string, unknown>>;
  code: string;
  message?: string;
}

export interface Evidence {
  data?: Record<string, unknown>;
  step: string;
  ts?: number | null;
}

export interface Execution {
  arguments?: string;
  call_id: string;
  cost_usd?: number | null;
  duration_ms?: number | null;
  error?: string;
  execution_id?: string;
  is_again?: boolean;
  order: number;
  reason?: string;
  schema: "execution/1";
  state: "planned" | "running" | "ended";
  status?: "" | "ok" | "param_error" | "business_failure" | "system_error" | "not_run";
  strategies?: Array<string>;
  stream_id: string;
  task: string;
  tenant?: string | null;
  tokens?: number;
  tool: string;
  ts: number;
}

export interface Failure {
  code: FailureCode;
  context?: Record<string, unknown> | null;
  expected?: string;
  found?: string;
  schema: "failure/1";
  signature?: string;
  span?: [number, number];
  stage: Stage;
  state?: string;
  stream_id: string;
}

export type FailureCode = "orphan_marker" | "stray_close" | "missing_close" | "truncated_call" | "unparseable_call" | "refused_call" | "unknown_tool" | "repaired" | "leaked_token" | "looks_like_call" | "no_format" | "held_too_long" | "stream_too_long" | "stream_idle" | "too_many_calls" | "missing_seq" | "after_end" | "undecodable" | "crashed" | "clock_skew" | "clean_failed";

export interface FormatFound {
  confidence?: number;
  id?: string | null;
}

export interface Gap {
  between: [string, string];
  evidence?: Array<string>;
  similarity: number;
  suggestion?: string;
}

export interface GivenResult {
  call_id: string;
  content: string;
  name?: string | null;
}

export interface Handover {
  bound: string;
  done?: Array<Record<string, unknown>>;
  left?: Array<Record<string, unknown>>;
  limit: number;
  next: string;
  schema: "handover/1";
  spent: Record<string, unknown>;
  stream_id: string;
  task: string;
  tenant?: string | null;
  ts: number;
}

export type Label = "planning" | "self_correction" | "evaluation" | "memory_retrieval" | "uncertainty" | "other";

export interface Link {
  evidence: string;
  kind: "time" | "led_to" | "based_on" | "supersedes";
  source: string;
  target: string;
}

export interface Meta {
  attrs?: Record<string, unknown>;
  format?: string | null;
  goal_id?: string | null;
  model?: string | null;
  now?: string | null;
  policy?: Record<string, unknown> | null;
  provider?: string | null;
  reasoning_open?: boolean;
  results?: Array<GivenResult>;
  run_id?: string | null;
  session_id?: string | null;
  tenant?: string | null;
  tools?: Array<Record<string, unknown>>;
  user?: string | null;
}

export interface Node {
  auto_filled?: boolean;
  based_on?: Array<string>;
  confidence: number;
  id: string;
  led_to?: Array<string>;
  order: number;
  position?: string | null;
  schema: "node/1";
  span: [number, number];
  steps?: Array<ReasoningStep>;
  stream_id: string;
  superseded?: boolean;
  superseded_by?: string | null;
  text: string;
  type: Label;
}

export interface Output {
  extra?: Record<string, unknown>;
  failures?: Array<Failure>;
  format?: FormatFound;
  latency_ms?: number | null;
  meta?: Meta | null;
  metadata?: OutputMetadata;
  pii?: Record<string, number>;
  reasoning?: Reasoning;
  reasoning_record?: Record<string, unknown> | null;
  response?: string;
  rev?: number;
  schema: "output/1";
  state?: Record<string, StateEntry>;
  stream_id: string;
  tool_calls?: Array<ToolCall>;
  ts?: number | null;
}

export interface OutputMetadata {
  duration_ms?: number | null;
  parse_confidence?: number;
  registry_version?: number;
  repairs_applied?: number;
  segments?: number;
  truncated?: boolean;
}

export interface Reasoning {
  edges?: Array<[string, string]>;
  gaps?: Array<Gap>;
  links?: Array<Link>;
  nodes?: Array<Node>;
  text?: string | null;
}

export interface ReasoningStep {
  confidence: number;
  span: [number, number];
  superseded?: boolean;
  type: Label;
}

export interface Refusal {
  candidate?: unknown;
  code: string;
  message?: string;
  path?: string;
}

export interface Repair {
  code: string;
  detail?: string | null;
  path?: string;
  rule?: string | null;
}

export interface Retrospection {
  advice?: string;
  call_id: string;
  cause: string;
  deviation: string;
  evidence_trace?: Array<Evidence>;
  probability: number;
  run_id: string;
  schema: "retrospection/1";
  strategy?: string | null;
  stream_id: string;
  tool: string;
  trigger: "explicit" | "implicit" | "passive";
  ts?: number | null;
}

export interface Signal {
  about?: string;
  call_id?: string;
  is_right?: boolean;
  kind: "alert" | "retrospect" | "review";
  schema: "signal/1";
  stream_id?: string;
  text?: string;
  ts?: number | null;
}

export type Stage = "decode" | "segment" | "reason" | "tool" | "clean" | "learn" | "sink";

export interface StateEntry {
  confidence: number;
  content: unknown;
  history?: Array<unknown>;
  key: string;
  order: number;
  schema: "state/1";
  source: string;
  span: [number, number];
  stream_id: string;
}

export interface Step {
  confidence?: number;
  detail?: Record<string, unknown>;
  format?: string | null;
  goal_id?: string | null;
  kind: string;
  model?: string | null;
  order: number;
  part?: number;
  rev?: number;
  run_id?: string | null;
  schema: "step/1";
  session_id?: string | null;
  span?: [number, number];
  status?: string;
  stream_id: string;
  tenant?: string | null;
  text?: string;
  ts?: number | null;
}

export interface Token {
  count?: number;
  done?: boolean;
  finish_reason?: string | null;
  meta?: Meta | null;
  schema: "token/1";
  seq: number;
  stream_id: string;
  text: string;
  ts?: number | null;
  usage?: Record<string, unknown> | null;
}

export interface ToolCall {
  arguments: Record<string, unknown> | null;
  confidence: number;
  duplicate_of?: string | null;
  id: string;
  name: string | null;
  order: number;
  raw: string;
  refusal?: Refusal | null;
  repairs?: Array<Repair>;
  requested_name: string | null;
  schema: "call/1";
  span: [number, number];
  status: CallStatus;
  strategy: string;
  stream_id: string;
  superseded_by?: string | null;
  warnings?: Array<CallWarning>;
}

export interface ToolResult {
  call_id: string;
  content?: unknown;
  cost_usd?: number | null;
  duration_ms?: number | null;
  error?: string | null;
  schema: "tool-result/1";
  status: "ok" | "param_error" | "business_failure" | "system_error" | "not_run";
  strategies?: Array<AppliedStrategy>;
  stream_id: string;
}
