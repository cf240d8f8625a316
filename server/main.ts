import { serve } from './serve.ts';
import { runProcess } from './stopping.ts';

await runProcess((life) => serve(process.env, life));
