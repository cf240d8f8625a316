/**
 * Loaded before the server under test: hashing a password takes some 50 ms of the processor by
 * intent, and hundreds of accounts are made. Each hash says how it was made, so that verifying it is
 * as quick. What the server asks for itself is tested beside its code.
 */
const { isMainThread } = require('node:worker_threads');

if (isMainThread) {
  const argon2 = require('@node-rs/argon2');
  const { hash } = argon2;
  argon2.hash = (password, cost) => hash(password, { ...cost, memoryCost: 64, timeCost: 1 });
}
