-- Tokens and cost per day, by model
-- page=overview chart=bars x=day y=tokens series=model
SELECT toDate(started_at) AS day, model, coalesce(sum(tok_in), 0) + coalesce(sum(tok_out), 0) AS tokens,
  sum(tok_in) AS tokens_in, sum(tok_out) AS tokens_out, sum(tok_reasoning) AS tokens_reasoning,
  sum(tok_cached) AS tokens_cached, sum(cost_usd) AS usd, countIf(cost_usd IS NULL) AS streams_without_price
FROM streams FINAL
WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND hour >= toStartOfHour({since:DateTime64(3, 'UTC')}) AND hour < {until:DateTime64(3, 'UTC')}
  AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')}
GROUP BY day, model ORDER BY day, model
