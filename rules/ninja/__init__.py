"""The Ninja front end: project file, graph, writer, driver."""
