#include <iostream>

#include "pipeline/commands/commands.h"
#include "pipeline/serve/http_server.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

struct ServeCommand {
  std::vector<std::string> bundles;
  std::string listen = "127.0.0.1:8080";
  std::string token;
  size_t max_bundle_bytes = size_t{2} << 30;
  serve::HttpOptions http;
  serve::RequestLimits limits;
};

// NAME=FILE, or FILE, whose name is then that without its ending.
serve::Service::Source parse_source(const std::string& text) {
  const size_t equals = text.find('=');
  std::error_code ignored;
  if (equals == std::string::npos || std::filesystem::exists(text, ignored))
    return {std::filesystem::path(text).stem().string(), text};
  const std::string name = text.substr(0, equals);
  if (name.empty() ||
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") !=
          std::string::npos)
    throw_input("--bundle {}: '{}' is no name; expected letters, digits, '.', '_' and '-'", text, name);
  return {name, text.substr(equals + 1)};
}

int run_serve(const ServeCommand& command, const Program& program) {
  serve::HttpOptions http = command.http;
  serve::parse_listen(command.listen, http);
  if (http.certificate.empty() != http.key.empty())
    throw_input("--tls-cert and --tls-key go together; one of them is missing");
  if (!command.token.empty()) http.tokens = serve::Tokens(command.token);
  std::vector<serve::Service::Source> sources;
  for (const std::string& text : command.bundles) sources.push_back(parse_source(text));
  // While they are loaded a signal ends the program as it ends any other.
  serve::Service service(std::move(sources), command.limits, command.max_bundle_bytes);
  const auto context = program.context();
  http.threads = context->threads();
  const auto log = [&](const std::string& line) { context->log(LogLevel::kInfo, line); };
  serve::serve_http(
      service, http, *context->stop,
      [&](int port) {
        const bool bare_ipv6 = http.host.find(':') != std::string::npos;
        std::cout << fmt::format("serving {} on {}://{}:{}\n", join(service.names(), ", "),
                                 http.encrypted() ? "https" : "http",
                                 bare_ipv6 ? "[" + http.host + "]" : http.host, port)
                  << std::flush;
      },
      log);
  return 0;
}

}  // namespace

void add_serve_command(CLI::App& app, Program& program) {
  CLI::App* command =
      app.add_subcommand("serve", "Answer ranking requests over HTTP with finished ensembles");
  const auto options = std::make_shared<ServeCommand>();
  command
      ->add_option("--bundle", options->bundles,
                   "[NAME=]FILE: a bundle, and its name in requests; repeatable")
      ->required();
  command->add_option("--listen", options->listen, "HOST:PORT; port 0 takes any that is free")
      ->capture_default_str();
  command
      ->add_option(
          "--token", options->token,
          "FILE with the tokens of clients, one a line: \"Authorization: Bearer TOKEN\" is then expected "
          "everywhere but at /health")
      ->type_name("FILE");
  command->add_option("--tls-cert", options->http.certificate, "The certificate chain (PEM) to show: https")
      ->type_name("FILE");
  command->add_option("--tls-key", options->http.key, "Its private key (PEM)")->type_name("FILE");
  command->add_flag("--insecure", options->http.insecure,
                    "Listen beyond this machine although tokens or TLS are missing");
  command->add_option("--threads", program.threads, "Threads that rank (default: all cores)")
      ->check(CLI::Range(1, 4096));
  command
      ->add_option("--connections", options->http.connections,
                   "Requests to rank under way at once; more are told to ask again (503)")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  command
      ->add_option("--max-held", options->http.held,
                   "Bytes of requests and answers in memory at once; then the slowest clients give way")
      ->check(CLI::Range(size_t{1} << 20, size_t{1} << 40))
      ->capture_default_str();
  command
      ->add_option("--max-bundle-bytes", options->max_bundle_bytes,
                   "A bundle that is longer, as a file or unpacked, is refused, at the start and later")
      ->check(CLI::Range(size_t{1}, size_t{1} << 40))
      ->capture_default_str();
  command->add_option("--max-bytes", options->limits.bytes, "A longer request is refused")
      ->check(CLI::Range(size_t{1}, size_t{1} << 32))
      ->capture_default_str();
  command->add_option("--max-documents", options->limits.documents, "A request of more documents is refused")
      ->check(CLI::Range(size_t{1}, size_t{1} << 32))
      ->capture_default_str();
  command
      ->add_option("--max-values", options->limits.values,
                   "A request of more documents times features is refused")
      ->check(CLI::Range(size_t{1}, size_t{1} << 36))
      ->capture_default_str();
  command
      ->add_option(
          "--reload-seconds", options->http.reload_seconds,
          "How often the files are looked at; a changed one is loaded, and replaces the old if it is "
          "sound")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  command->add_flag("--quiet", program.quiet, "Only warnings and errors on stderr");
  command->footer(
      "POST /rank/NAME (or /rank with one bundle) takes JSON, or LETOR lines as text/plain, and gives scores "
      "and ranks;\n"
      "features in JSON are a list, or an object by number or by the bundle's names: {\"1\": 3, \"bm25\": "
      "4.8}.\n"
      "GET /health and GET /metrics (Prometheus) tell how it is. SIGTERM or Ctrl-C end it once the requests "
      "under way\nare answered.\n"
      "Example:\n"
      "  tunemix serve --bundle web=runs/quickstart/bundle-fold1.tmx\n"
      "  curl -H 'Content-Type: text/plain' --data-binary @new.txt http://127.0.0.1:8080/rank/web");
  set_action(*command, program, options, run_serve);
}

}  // namespace tunemix
