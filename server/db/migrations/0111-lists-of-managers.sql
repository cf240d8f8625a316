-- What managers filter long lists by: few rows among many are found without reading all.
CREATE INDEX orders_by_provider ON orders (provider, id);
CREATE INDEX orders_by_state ON orders (state, id);
CREATE INDEX orders_by_day ON orders (created_at) INCLUDE (amount, refunded_amount, paid_at);
DROP INDEX orders_created;
-- users_vip_end is the same.
DROP INDEX users_vip;
CREATE INDEX users_guests ON users (id) WHERE guest;
CREATE INDEX users_subscribers ON users (id) WHERE subscribe > 0;
CREATE INDEX users_disabled ON users (id) WHERE disabled;
CREATE INDEX users_managers ON users (id) WHERE manager;
CREATE INDEX sessions_deleted ON sessions (id) WHERE deleted_at IS NOT NULL;
CREATE INDEX sessions_by_type ON sessions (type, id);
CREATE INDEX training_projects_by_kind ON training_projects (type, status, id);
