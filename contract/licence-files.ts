/** Where the page has the licence of the program and the third-party notices; written by the build. */
export const licenceFiles = {
  license: '/license.txt',
  notices: '/third-party-notices.txt',
} as const;
