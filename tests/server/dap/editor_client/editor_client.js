// Drives a debug adapter with Microsoft's own client, as an editor would: node editor_client.js '{…}'
//
// The argument is JSON: `scenario`, and either `port` or `python` and `adapter` (a Python file that is
// started, and spoken to over its pipes); `program` and the numbers of its `lines`. Exits with 0 if all was
// as expected.
const assert = require("assert");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const task = JSON.parse(process.argv[2]);
const { program, lines } = task;

async function open() {
  const client = new DebugClient(task.python || "node", task.adapter || "none", "holdfast", undefined, true);
  await client.start(task.port);
  client.defaultTimeout = 60000;
  return client;
}

const launch = (more) => ({ program, justMyCode: false, console: "internalConsole", ...more });

async function go(client, command, reason, where) {
  const stop = client.assertStoppedLocation(reason, where || {});
  await client[command]({ threadId: 1 });
  return (await stop).body.stackFrames[0];
}

async function readLocals(client, frame) {
  const scopes = (await client.scopesRequest({ frameId: frame.id })).body.scopes;
  const reference = scopes[0].variablesReference;
  const variables = (await client.variablesRequest({ variablesReference: reference })).body.variables;
  return { reference, variables: Object.fromEntries(variables.map((each) => [each.name, each])) };
}

async function end(client) {
  const ended = Promise.all([client.waitForEvent("exited"), client.waitForEvent("terminated")]);
  await client.continueRequest({ threadId: 1 });
  return (await ended)[0].body.exitCode;
}

// -- one editor: everything in order -----------------------------------------------------------------

async function alone() {
  const client = await open();
  const capabilities = (await client.initializeRequest({
    adapterID: "holdfast", clientID: "testsupport", linesStartAt1: true, columnsStartAt1: true,
    pathFormat: "path", supportsVariablePaging: true,
  })).body;
  assert(capabilities.supportsDataBreakpoints && capabilities.supportsRestartRequest);
  assert.deepEqual(capabilities.exceptionBreakpointFilters.map((each) => each.filter),
    ["raised", "uncaught", "userUnhandled"]);

  const launched = client.launchRequest(launch());
  await client.waitForEvent("initialized");
  const set = (await client.setBreakpointsRequest({
    source: { path: program },
    breakpoints: [{ line: lines.work, condition: "n == 2" }, { line: lines.log, logMessage: "at {n}" }],
  })).body.breakpoints;
  assert(set.every((each) => each.verified));
  await client.setFunctionBreakpointsRequest({ breakpoints: [{ name: "prepare" }] });
  await client.setExceptionBreakpointsRequest({ filters: ["uncaught"] });
  const first = client.assertStoppedLocation("function breakpoint", { path: program });
  await Promise.all([client.configurationDoneRequest(), launched, first]);
  assert.equal((await client.threadsRequest()).body.threads[0].id, 1);

  // a breakpoint with a condition, and steps
  const logged = client.assertOutput("console", "at 0\nat 1\n");
  let frame = await go(client, "continueRequest", "breakpoint", { path: program, line: lines.work });
  await logged;
  frame = await go(client, "stepInRequest", "step", { path: program, line: lines.inside });
  frame = await go(client, "stepOutRequest", "step", { path: program, line: lines.work });
  frame = await go(client, "nextRequest", "step", { path: program, line: lines.next });

  // variables, a page at a time, and new values
  let { reference, variables } = await readLocals(client, frame);
  assert.equal(variables.many.indexedVariables, 1000);
  const page = (await client.variablesRequest({
    variablesReference: variables.many.variablesReference, filter: "indexed", start: 998, count: 100,
  })).body.variables;
  assert.deepEqual(page.map((each) => each.value), ["998", "999"]);
  const changed = (await client.setVariableRequest({
    variablesReference: reference, name: "total", value: "40 + 2",
  })).body;
  assert.equal(changed.value, "42");

  // expressions
  const evaluate = async (expression, context) =>
    (await client.evaluateRequest({ expression, frameId: frame.id, context })).body.result;
  assert.equal(await evaluate("total", "watch"), "42");
  assert.equal(await evaluate("n", "hover"), "2");
  await assert.rejects(evaluate("nothing_of_the_kind", "repl"), /nothing_of_the_kind/);
  const completions = (await client.completionsRequest({ frameId: frame.id, text: "tot", column: 4 })).body;
  assert.deepEqual(completions.targets.map((each) => each.label), ["total"]);
  await client.customRequest("modules", { startModule: 0 });
  await assert.rejects(client.customRequest("readMemory", { memoryReference: "0", count: 1 }), /not supported/);

  // a value that is watched
  {
    const info = (await client.dataBreakpointInfoRequest({ variablesReference: reference, name: "total" })).body;
    assert(info.dataId, info.description);
    const watched = (await client.setDataBreakpointsRequest({
      breakpoints: [{ dataId: info.dataId, accessType: "write" }],
    })).body.breakpoints;
    assert(watched[0].verified, watched[0].message);
    await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
    frame = await go(client, "continueRequest", "data breakpoint", { path: program });
    await client.setDataBreakpointsRequest({ breakpoints: [] });
  }

  // once more from the start
  const again = client.assertStoppedLocation("function breakpoint", { path: program });
  await client.restartRequest({});
  await again;
  await client.setFunctionBreakpointsRequest({ breakpoints: [] });
  await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });

  // an exception, and the end
  await go(client, "continueRequest", "exception", { path: program, line: lines.raise });
  const thrown = (await client.exceptionInfoRequest({ threadId: 1 })).body;
  assert.equal(thrown.exceptionId, "ValueError");
  assert.match(thrown.details.stackTrace, /ValueError: no more/);
  assert.equal(await end(client), 1);
  await client.disconnectRequest();
}

// -- what the client brings along --------------------------------------------------------------------

async function hit() {
  const client = await open();
  await client.hitBreakpoint(launch(), { path: program, line: lines.next });
  await client.stop();
  const other = await open();
  await Promise.all([
    other.configurationSequence(),
    other.launch(launch()),
    other.assertOutput("stdout", "done 0\ndone 1\n"),
    other.waitForEvent("terminated"),
  ]);
  await other.stop();
}

// -- two editors at once -----------------------------------------------------------------------------

async function two() {
  const one = await open();
  await one.hitBreakpoint(launch(), { path: program, line: lines.next });
  const other = await open();
  await other.initializeRequest();
  const stands = other.assertStoppedLocation("breakpoint", { path: program, line: lines.next });
  const known = other.waitForEvent("breakpoint");
  await Promise.all([
    other.waitForEvent("initialized").then(() => other.configurationDoneRequest()),
    other.attachRequest({ session: "latest" }),
    stands,
  ]);
  assert.equal((await known).body.breakpoint.line, lines.next);

  // One steps, and the other sees it move; then the other way round.
  for (const [mover, watcher] of [[one, other], [other, one]]) {
    const moved = Promise.all([watcher.waitForEvent("continued"), watcher.waitForEvent("stopped")]);
    await go(mover, "nextRequest", "step");
    assert.equal((await moved)[1].body.reason, "step");
  }

  // Both let it run.
  await one.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
  await one.setExceptionBreakpointsRequest({ filters: [] });
  const ended = Promise.all([one.waitForEvent("terminated"), other.waitForEvent("terminated")]);
  await Promise.all([one.continueRequest({ threadId: 1 }), other.continueRequest({ threadId: 1 })]);
  await ended;
  await one.disconnectRequest();
  await other.disconnectRequest();
}

// One leaves, the other stays.
async function leave() {
  const one = await open();
  await one.hitBreakpoint(launch(), { path: program, line: lines.next });
  const other = await open();
  await other.initializeRequest();
  await Promise.all([
    other.waitForEvent("initialized").then(() => other.configurationDoneRequest()),
    other.attachRequest({ session: "latest" }),
    other.waitForEvent("stopped"),
  ]);
  await one.disconnectRequest();
  await go(other, "nextRequest", "step");
  const ended = other.waitForEvent("terminated");
  await other.terminateRequest();
  await ended;
  await other.disconnectRequest();
}

const scenarios = { alone, hit, two, leave };
process.on("unhandledRejection", (problem) => { console.error(problem); process.exit(1); });
process.exitCode = 1; // if the adapter is gone, nothing is left to wait for, and Node ends
scenarios[task.scenario]().then(() => process.exit(0), (problem) => {
  console.error(problem);
  process.exit(1);
});
