import { and, eq, sql } from 'drizzle-orm';
import type { Transaction } from '#server/db/database.ts';
import { images } from '#server/db/schema.ts';
import { imageVotes } from './gallery.tables.ts';

/**
 * Sets a person's vote on an image (0: none) and counts anew by the difference; the image's row is
 * locked, so that votes at once all count. Gives the counts.
 */
export const setVote = async (
  tx: Transaction,
  imageId: number,
  userId: number,
  vote: number,
): Promise<{ liked: number; disliked: number }> => {
  await tx.select({ id: images.id }).from(images).where(eq(images.id, imageId)).for('update');
  const mine = and(eq(imageVotes.imageId, imageId), eq(imageVotes.userId, userId));
  const [before] = await tx.select({ vote: imageVotes.vote }).from(imageVotes).where(mine);
  const was = before?.vote ?? 0;
  if (vote === 0) await tx.delete(imageVotes).where(mine);
  else if (vote !== was)
    await tx
      .insert(imageVotes)
      .values({ imageId, userId, vote })
      .onConflictDoUpdate({
        target: [imageVotes.imageId, imageVotes.userId],
        set: { vote, createdAt: sql`now()` },
      });
  const change = (of: number) => Number(vote === of) - Number(was === of);
  const [row] = await tx
    .update(images)
    .set({
      likedCount: sql`${images.likedCount} + ${change(1)}`,
      dislikedCount: sql`${images.dislikedCount} + ${change(-1)}`,
    })
    .where(eq(images.id, imageId))
    .returning({ liked: images.likedCount, disliked: images.dislikedCount });
  return row ?? { liked: 0, disliked: 0 };
};
