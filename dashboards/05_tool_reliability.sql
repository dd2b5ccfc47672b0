-- Tools: calls, how they were read, how they ended
-- page=tools chart=table bars=ok,repaired,failed,result_errors
SELECT name AS tool, countIf(kind = 'tool_call') AS calls,
  countIf(kind = 'tool_call' AND status = 'ok') / greatest(calls, 1) AS ok,
  countIf(kind = 'tool_call' AND status IN ('repaired', 'renamed')) / greatest(calls, 1) AS repaired,
  countIf(kind = 'tool_call' AND error_class != '') / greatest(calls, 1) AS failed,
  countIf(kind = 'tool_result') AS results,
  countIf(kind = 'tool_result' AND status != 'ok') / greatest(results, 1) AS result_errors,
  round(quantileIf(0.5)(duration_ms, kind = 'tool_result')) AS p50_ms,
  round(quantileIf(0.95)(duration_ms, kind = 'tool_result')) AS p95_ms
FROM steps FINAL
WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')} AND kind IN ('tool_call', 'tool_result')
GROUP BY name ORDER BY calls DESC LIMIT 50
