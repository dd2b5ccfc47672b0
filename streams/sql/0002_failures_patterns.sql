-- What went wrong, what was learned from it, what people think of it, how the stages are doing.

CREATE TABLE IF NOT EXISTS failures (
  tenant        LowCardinality(String) COMMENT 'Tenant of the stream.',
  failed_at     DateTime64(3, 'UTC') COMMENT 'Start of the stream that failed; for records without a stream, when the sink saw it.',
  failure_id    String COMMENT 'Hash of the failure''s content, so that a replay writes the same id.',
  run_id        String COMMENT 'Run of the stream.',
  stream_id     String COMMENT 'Stream that failed; empty when the record had none.',
  stage         LowCardinality(String) COMMENT 'Stage that saw it.',
  code          LowCardinality(String) COMMENT 'Failure code, as docs/failure-codes.md lists them.',
  signature     LowCardinality(String) COMMENT 'What makes two failures the same; free of content.',
  state         String COMMENT 'What the stage was in the middle of.',
  found         String COMMENT 'Bounded, clean excerpt of what stood there.' CODEC(ZSTD(3)),
  expected      String COMMENT 'What should have stood there.',
  span_start    UInt32 COMMENT 'First character in the raw text.',
  span_end      UInt32 COMMENT 'Character after the last one.',
  model         LowCardinality(String) COMMENT 'Model of the stream.',
  format        LowCardinality(String) COMMENT 'Format of the stream.',
  pattern_id    LowCardinality(String) COMMENT 'Learned rule that mended it; empty when none.',
  context       String COMMENT 'JSON for the learner: clean neighbourhood, tools, format.' CODEC(ZSTD(3)),
  rev           UInt64 COMMENT 'Revision.',
  ingested_at   DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When the sink wrote the row.',
  is_deleted    UInt8 DEFAULT 0 COMMENT '1: tombstone.',
  INDEX ix_signature signature TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX ix_stream stream_id TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = ReplacingMergeTree(rev, is_deleted)
PARTITION BY toMonday(failed_at)
ORDER BY (tenant, toDate(failed_at), failure_id)
TTL toDateTime(failed_at) + INTERVAL 90 DAY DELETE
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000
COMMENT 'One row for each failure and each repair that a stage reported.';

CREATE TABLE IF NOT EXISTS patterns (
  pattern_id    String COMMENT 'Id of the registry entry.',
  version       UInt32 COMMENT 'Version of the entry.',
  registry_version UInt64 COMMENT 'Registry version that this change made.',
  kind          LowCardinality(String) COMMENT 'format, repair_rule, reasoning, pii, tool or strategy.',
  state         LowCardinality(String) COMMENT 'candidate, shadow, canary, active, retired or rejected.',
  priority      Int32 COMMENT 'Higher wins among entries that both match.',
  definition    String COMMENT 'JSON in the shape of the shipped catalogue.' CODEC(ZSTD(3)),
  evidence      String COMMENT 'JSON: each step of the decision with its figures.' CODEC(ZSTD(3)),
  counters      Map(LowCardinality(String), Int64) COMMENT 'Hits and results so far.',
  positives     Array(String) COMMENT 'Samples that the pattern must mend.' CODEC(ZSTD(3)),
  negatives     Array(String) COMMENT 'Samples that it must leave alone.' CODEC(ZSTD(3)),
  changed_at    DateTime64(3, 'UTC') COMMENT 'When the change was made.',
  ingested_at   DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When the sink wrote the row.'
) ENGINE = ReplacingMergeTree(ingested_at)
ORDER BY (pattern_id, version, registry_version)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'The life of each registry entry: one row for each change.';

CREATE TABLE IF NOT EXISTS scores (
  tenant        LowCardinality(String) COMMENT 'Tenant.',
  run_id        String COMMENT 'Run that is judged.',
  stream_id     String COMMENT 'Stream that is judged; empty: the whole run.',
  `order`       Nullable(Int32) COMMENT 'Step that is judged; NULL: the whole stream.',
  name          LowCardinality(String) COMMENT 'What is judged, such as correctness.',
  source        LowCardinality(String) COMMENT 'Who judged: a person, a model, a check.',
  value         Float64 COMMENT 'The judgement as a number.',
  label         LowCardinality(String) COMMENT 'The judgement as a word.',
  comment       String COMMENT 'Why.',
  scored_at     DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When.',
  score_id      UUID DEFAULT generateUUIDv4() COMMENT 'Identity; a later row with the same id replaces it.',
  is_deleted    UInt8 DEFAULT 0 COMMENT '1: tombstone.'
) ENGINE = ReplacingMergeTree(scored_at, is_deleted)
ORDER BY (tenant, name, run_id, score_id)
COMMENT 'Judgements of runs, streams and steps, written by whoever judges.';

CREATE TABLE IF NOT EXISTS stage_stats (
  ts            DateTime('UTC') COMMENT 'When the figures were taken.',
  stage         LowCardinality(String) COMMENT 'Stage.',
  instance      LowCardinality(String) COMMENT 'Worker process.',
  topic         LowCardinality(String) COMMENT 'Topic that is read.',
  partition     UInt16 COMMENT 'Partition of the topic.',
  records_in    UInt64 COMMENT 'Records read since the row before.',
  records_out   UInt64 COMMENT 'Records written since the row before.',
  failures      UInt64 COMMENT 'Failures since the row before.',
  dead_letters  UInt64 COMMENT 'Dead letters since the row before.',
  lag           UInt64 COMMENT 'Records not yet read.',
  oldest_ms     UInt64 COMMENT 'Age of the oldest record not yet read.',
  p95_ms        Float32 COMMENT '95th percentile of the time for one batch.',
  open_streams  UInt64 COMMENT 'Streams open in the worker.'
) ENGINE = ReplacingMergeTree
PARTITION BY toMonday(ts)
ORDER BY (stage, topic, partition, instance, ts)
TTL ts + INTERVAL 30 DAY DELETE
SETTINGS ttl_only_drop_parts = 1
COMMENT 'How each stage is doing, by partition, every few seconds.';

CREATE TABLE IF NOT EXISTS quarantine (
  reason        LowCardinality(String) COMMENT 'waiting (its stream is not known yet), clock_skew or rejected.',
  stream_id     String COMMENT 'Stream of the event.',
  event_id      String COMMENT 'Hash of the event.',
  event         String COMMENT 'The event as JSON, clean.' CODEC(ZSTD(3)),
  seen_at       DateTime('UTC') DEFAULT now() COMMENT 'When the sink put it here.',
  is_deleted    UInt8 DEFAULT 0 COMMENT '1: placed meanwhile.'
) ENGINE = ReplacingMergeTree(seen_at, is_deleted)
ORDER BY (reason, stream_id, event_id)
TTL seen_at + INTERVAL 30 DAY DELETE
COMMENT 'Events that could not become rows: kept apart, never lost.';
