-- Records read and written per second, failures and dead letters
-- page=pipeline chart=lines x=time y=in_per_s,out_per_s series=stage
WITH greatest(60, intDiv(dateDiff('second', {since:DateTime64(3, 'UTC')}, {until:DateTime64(3, 'UTC')}), 300)) AS width
SELECT toStartOfInterval(ts, toIntervalSecond(width)) AS time, stage,
  sum(records_in) / width AS in_per_s, sum(records_out) / width AS out_per_s, sum(failures) AS n_failures, sum(dead_letters) AS n_dead_letters
FROM stage_stats
WHERE ts >= {since:DateTime64(3, 'UTC')} AND ts < {until:DateTime64(3, 'UTC')}
GROUP BY time, stage ORDER BY time, stage
