"""The bridge in other people's agent loops: a module for each framework, one to three lines to use.

| | |
|---|---|
| LangChain | `create_agent(…, middleware=[langchain.HoldfastMiddleware()])` |
| LangGraph | `langgraph.watch(graph, models=[model])` |
| OpenAI Agents SDK | `openai_agents.install()` |
| pydantic-ai | `Agent(…, capabilities=[pydantic_ai.HoldfastCapability()])` |
| smolagents | `smolagents.watch(agent)` |
| Claude Agent SDK | `ClaudeAgentOptions(hooks=claude.hooks())` |
| `openai` | `openai_client.watch(client)` |
| `anthropic` | `anthropic_client.watch(client)` |

Each takes the bridge to use; without one it is the last that was started. A framework is imported
by its own module only. `docs/agents.md` says what each of them can do, and what not.
"""
