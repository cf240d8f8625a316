import { TestClient } from './client.ts';

/** Somebody at an address, as a server with TRUST_PROXY=127.0.0.1 sees them. */
export class ClientAt extends TestClient {
  readonly address: string;
  constructor(baseURL: string, address: string) {
    super(baseURL);
    this.address = address;
  }
  override headers() {
    return { ...super.headers(), 'x-forwarded-for': this.address };
  }
}
