// Forwards requests to a server with a token added, for the conformance suite, which sends none.
//
// Arguments: address of the server, token. Prints its own port; ends with its input. Its own name in Host and
// Origin becomes the server's; foreign ones stay as they are.

import http from "node:http";

const [upstream, token] = process.argv.slice(2);
const target = new URL(upstream);

function moved(name) {
    const own = new RegExp(`^((?:http://)?(?:127\\.0\\.0\\.1|localhost)):${server.address().port}$`);
    return name.replace(own, `$1:${target.port}`);
}

const server = http.createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    for (const name of ["host", "origin"]) {
        if (headers[name]) headers[name] = moved(headers[name]);
    }
    const there = { host: target.hostname, port: target.port, path: request.url, method: request.method, headers };
    const sent = http.request(there, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
    });
    sent.on("error", () => response.destroy());
    response.on("close", () => sent.destroy());
    request.pipe(sent);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit()).resume();
