import { statfs } from 'node:fs/promises';
import { Refusal } from '../http/handlers.ts';

/** How long it is believed how much is free, ms. */
const lookMs = 3_000;
const gigabyte = 1024 ** 3;
/** What stays free where nobody says how much: a share of the disk, and no more than so many bytes. */
const usual = { share: 0.03, most: gigabyte };
/** Guests have to leave so many times as much. */
const guestsLeave = 2;

export interface DiskRoom {
  /**
   * Refuses to keep more while little of the disk is free: guests first, then everybody, so that
   * those who are known, and the database, go on longest. @throws Refusal storage_full
   */
  require: (user: { guest: boolean } | null) => Promise<void>;
}

/**
 * Watches the disk of a folder.
 * @param reserve bytes that stay free; null: the usual share
 */
export const createDiskRoom = (folder: string, reserve: number | null): DiskRoom => {
  let seen: { free: number; least: number; at: number } | null = null;
  const look = async () => {
    if (seen && Date.now() - seen.at < lookMs) return seen;
    const disk = await statfs(folder).catch(() => null);
    // What cannot be measured is left to whoever writes.
    seen = {
      free: disk ? disk.bavail * disk.bsize : Infinity,
      least:
        reserve ?? Math.min(usual.most, (disk?.blocks ?? 0) * (disk?.bsize ?? 0) * usual.share),
      at: Date.now(),
    };
    return seen;
  };
  return {
    require: async (user) => {
      const { free, least } = await look();
      if (free < least) throw new Refusal('storage_full');
      if ((user === null || user.guest) && free < least * guestsLeave)
        throw new Refusal('storage_full', '服务器的存储空间快满了，登录之后才能继续保存文件');
    },
  };
};

/** Where files are kept elsewhere, others watch the room. */
export const elsewhere: DiskRoom = { require: () => Promise.resolve() };
