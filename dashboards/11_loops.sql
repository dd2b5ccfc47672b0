-- Loops: the same call three times or more in one run
-- page=behaviour chart=table link=run_id
SELECT run_id, name AS tool, count() AS times FROM steps FINAL
WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')} AND kind = 'tool_call' AND args_hash != 0
GROUP BY run_id, name, args_hash HAVING times >= 3 ORDER BY times DESC, run_id LIMIT 50
