-- Repair funnel per day
-- page=tools chart=bars x=day y=failures,repaired,by_pattern,lost
SELECT toDate(failed_at) AS day, count() AS failures, countIf(code = 'repaired') AS repaired,
  countIf(pattern_id != '') AS by_pattern,
  countIf(code IN ('refused_call', 'unparseable_call', 'unknown_tool', 'truncated_call')) AS lost
FROM failures FINAL
WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND failed_at >= {since:DateTime64(3, 'UTC')} AND failed_at < {until:DateTime64(3, 'UTC')}
GROUP BY day ORDER BY day
