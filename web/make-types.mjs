// Writes the types of the server's document: `npm run types`. The command of openapi-typescript
// would do the same, but not below a directory with a % in its name.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString, COMMENT_HEADER } from "openapi-typescript";

const document = await readFile(new URL("openapi.json", import.meta.url), "utf8");
const options = { cwd: new URL("file:///"), defaultNonNullable: false };
const types = COMMENT_HEADER + astToString(await openapiTS(document, options));
await writeFile(new URL("src/api/schema.d.ts", import.meta.url), types);
