import { isPublicHost } from '#server/net/public-host.ts';

/** Where this site says who it is to servers that people sign in at. */
export const documentPath = '/tools/client.json';

/** What this site is at a server where a person signs in. @param redirect where they come back to */
export const clientMetadata = (redirect: string) => ({
  client_name: '鹊桥',
  redirect_uris: [redirect],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
});

export const redirectAt = (origin: string): string => `${origin}/tools/authorized`;

/**
 * The address of the document that names this site by itself, so that a server has not to register
 * it; undefined where no server could fetch it.
 */
export const documentUrl = (publicUrl: string): string | undefined => {
  if (!publicUrl.startsWith('https:') || !isPublicHost(new URL(publicUrl).hostname))
    return undefined;
  return `${publicUrl}${documentPath}`;
};

/** Client ID Metadata Document, draft-ietf-oauth-client-id-metadata-document. */
export const clientDocument = (publicUrl: string): Record<string, unknown> => ({
  client_id: documentUrl(publicUrl),
  client_uri: publicUrl,
  ...clientMetadata(redirectAt(publicUrl)),
});
