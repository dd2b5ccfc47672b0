-- Which tool follows which
-- page=behaviour chart=sankey x=tool y=next value=times
SELECT pair.1 AS tool, pair.2 AS next, count() AS times FROM (
  SELECT arrayJoin(arrayZip(arrayPopBack(names), arrayPopFront(names))) AS pair FROM (
    SELECT run_id, arrayMap(x -> x.4, arraySort(groupArray((started_at, stream_id, `order`, toString(name))))) AS names
    FROM steps FINAL
    WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')} AND kind = 'tool_call'
    GROUP BY run_id HAVING length(names) > 1))
GROUP BY tool, next ORDER BY times DESC LIMIT 100
