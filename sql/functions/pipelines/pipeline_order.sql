-- pipeline_order: the places of a pipeline's steps in an order that follows every edge
--   Guard   none.
--   Locks   none.
--   Returns each place once; raises PIPELINE_CYCLE with the names of steps that wait for each other.
--   Notifies nothing.
--   Tested by  test/sql/pipelines/enqueue_pipeline.test.ts
create or replace function holdfast.pipeline_order(p_names text[], p_befores integer[], p_afters integer[])
  returns integer[]
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_n constant integer := cardinality(p_names);
  v_open integer[];      -- per place: edges that lead to it and have not been followed
  v_counts integer[];    -- per place: edges that leave it
  v_firsts integer[];    -- per place: where these edges begin in v_targets
  v_targets integer[];
  v_order integer[];
  v_at integer := 1;
  v_target integer;
begin
  -- Most pipelines name each step after those it depends on: then their own order follows every edge.
  if not exists (select from unnest(p_befores, p_afters) as e(before, after) where e.before >= e.after) then
    return array(select generate_series(1, v_n));
  end if;

  v_open := array(
    select count(e.after) from generate_series(1, v_n) as g(place) left join unnest(p_afters) as e(after) on e.after = g.place
     group by g.place order by g.place);
  v_counts := array(
    select count(e.before) from generate_series(1, v_n) as g(place) left join unnest(p_befores) as e(before) on e.before = g.place
     group by g.place order by g.place);
  v_firsts := array(
    select sum(c.n) over (order by c.place) - c.n from unnest(v_counts) with ordinality as c(n, place) order by c.place);
  v_targets := array(select e.after from unnest(p_befores, p_afters) as e(before, after) order by e.before, e.after);

  v_order := array(select o.place from unnest(v_open) with ordinality as o(n, place) where o.n = 0 order by o.place);
  while v_at <= cardinality(v_order) loop
    for v_edge in v_firsts[v_order[v_at]] + 1..v_firsts[v_order[v_at]] + v_counts[v_order[v_at]] loop
      v_target := v_targets[v_edge];
      v_open[v_target] := v_open[v_target] - 1;
      if v_open[v_target] = 0 then
        v_order := v_order || v_target;
      end if;
    end loop;
    v_at := v_at + 1;
  end loop;

  if cardinality(v_order) < v_n then
    perform holdfast.refuse('PIPELINE_CYCLE', 'the steps of the pipeline depend on each other in a cycle',
      jsonb_build_object('steps', to_jsonb(array(
        select n.name from unnest(p_names, v_open) as n(name, open) where n.open > 0 order by n.name limit 20))));
  end if;
  return v_order;
end
$$;
