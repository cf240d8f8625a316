-- Whoever paid may ask for the money back, once an order: why, and what a manager answered who did not.
ALTER TABLE orders
  ADD COLUMN refund_asked_at timestamptz,
  ADD COLUMN refund_wish text NOT NULL DEFAULT '',
  ADD COLUMN refund_answer text NOT NULL DEFAULT '';
CREATE INDEX orders_refund_asked ON orders (id) WHERE refund_asked_at IS NOT NULL;
