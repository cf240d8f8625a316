/**
 * WebKit puts a page that is left in the middle of a transaction away with it: nobody else can read
 * that database until the page is thrown away, minutes later. There a page that is left ends its
 * transactions and begins no more until it comes back; what was in them lies in the quick storage.
 */
export const letGoWhenLeft = (): void => {
  if (!navigator.vendor.startsWith('Apple') || typeof IDBDatabase === 'undefined') return;
  const running = new Set<IDBTransaction>();
  let left = false;
  // oxlint-disable-next-line unbound-method -- It is called on its own database below.
  const begin = IDBDatabase.prototype.transaction;
  IDBDatabase.prototype.transaction = function transaction(this: IDBDatabase, ...asked) {
    if (left) throw new DOMException('the page was left', 'InvalidStateError');
    const begun = begin.apply(this, asked);
    running.add(begun);
    const over = () => running.delete(begun);
    begun.addEventListener('complete', over);
    begun.addEventListener('abort', over);
    return begun;
  };
  addEventListener('pagehide', () => {
    left = true;
    for (const each of running) each.abort();
  });
  addEventListener('pageshow', () => {
    left = false;
  });
};
