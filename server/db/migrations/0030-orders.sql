CREATE TABLE orders (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  number text NOT NULL UNIQUE,
  user_id bigint NOT NULL REFERENCES users,
  kind text NOT NULL,
  type smallint NOT NULL,
  subject text NOT NULL DEFAULT '',
  quantity integer NOT NULL DEFAULT 1,
  title text NOT NULL,
  amount integer NOT NULL CHECK (amount >= 0),
  tokens bigint NOT NULL DEFAULT 0,
  provider text NOT NULL DEFAULT '',
  state text NOT NULL DEFAULT 'created' CHECK (state IN ('created', 'paid', 'closed', 'refunded')),
  url text NOT NULL DEFAULT '',
  transaction_id text NOT NULL DEFAULT '',
  refunded_amount integer NOT NULL DEFAULT 0,
  remarks text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL DEFAULT now(),
  paid_at timestamptz,
  closed_at timestamptz,
  -- When the payment service was asked last, and when it is to be asked next; null: no more.
  asked_at timestamptz,
  next_ask_at timestamptz,
  CHECK (refunded_amount >= 0 AND refunded_amount <= amount)
);
CREATE INDEX orders_mine ON orders (user_id, id DESC);
CREATE INDEX orders_asked ON orders (next_ask_at) WHERE next_ask_at IS NOT NULL;
CREATE INDEX orders_created ON orders (created_at);
-- A payment is credited to one order alone.
CREATE UNIQUE INDEX orders_transaction ON orders (provider, transaction_id) WHERE transaction_id <> '';

CREATE TABLE order_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders,
  event text NOT NULL,
  state text NOT NULL,
  -- The manager who did it; null: its owner, the payment service or the clock.
  manager_id bigint REFERENCES users,
  detail jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX order_events_order ON order_events (order_id, id);
CREATE TRIGGER order_events_append_only BEFORE UPDATE OR DELETE ON order_events
  FOR EACH ROW EXECUTE FUNCTION ledger_is_append_only();

CREATE TABLE refunds (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  number text NOT NULL UNIQUE,
  order_id bigint NOT NULL REFERENCES orders,
  amount integer NOT NULL CHECK (amount >= 0),
  reason text NOT NULL DEFAULT '',
  -- What was taken back, so that it can be given again when the payment service refuses.
  taken jsonb NOT NULL,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'done', 'failed')),
  manager_id bigint REFERENCES users,
  failure text NOT NULL DEFAULT '',
  next_ask_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
);
CREATE INDEX refunds_order ON refunds (order_id);
CREATE INDEX refunds_asked ON refunds (next_ask_at) WHERE next_ask_at IS NOT NULL;

CREATE TABLE sandbox_trades (
  number text PRIMARY KEY,
  key text NOT NULL UNIQUE,
  title text NOT NULL,
  amount integer NOT NULL,
  state text NOT NULL DEFAULT 'unpaid' CHECK (state IN ('unpaid', 'paid', 'closed')),
  transaction_id text NOT NULL DEFAULT '',
  paid_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sandbox_trades_paid ON sandbox_trades (paid_at);

-- Days whose bill of a payment service was read and compared.
CREATE TABLE payment_bills (
  provider text NOT NULL,
  day date NOT NULL,
  payments integer NOT NULL,
  amount bigint NOT NULL,
  read_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (provider, day)
);

-- What the payment service and the orders say differently, for managers to look at.
CREATE TABLE payment_differences (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  provider text NOT NULL,
  number text NOT NULL,
  kind text NOT NULL,
  detail text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz,
  resolved_by bigint REFERENCES users,
  note text NOT NULL DEFAULT '',
  UNIQUE (provider, number, kind)
);

CREATE TABLE invoices (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users,
  amount integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('personal', 'company')),
  title text NOT NULL,
  tax_number text NOT NULL DEFAULT '',
  email text NOT NULL,
  state text NOT NULL DEFAULT 'requested' CHECK (state IN ('requested', 'issued', 'rejected')),
  remark text NOT NULL DEFAULT '',
  manager_id bigint REFERENCES users,
  created_at timestamptz NOT NULL DEFAULT now(),
  handled_at timestamptz
);
CREATE INDEX invoices_mine ON invoices (user_id, id DESC);
CREATE TABLE invoice_orders (
  order_id bigint PRIMARY KEY REFERENCES orders,
  invoice_id bigint NOT NULL REFERENCES invoices ON DELETE CASCADE
);
CREATE INDEX invoice_orders_invoice ON invoice_orders (invoice_id);

ALTER TABLE ledger DROP CONSTRAINT ledger_kind_check;
ALTER TABLE ledger ADD CONSTRAINT ledger_kind_check CHECK (kind IN
  ('grant', 'expire', 'hold', 'release', 'spend', 'transfer', 'purchase', 'refund', 'adjust'));
