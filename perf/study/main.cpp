#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include <perf/study/commands.hpp>

int main(int argc, char** argv) {
  using namespace zenith_study;
  CLI::App app{"The laboratory of Zenith: measures, predicts and explains.", "zenith-study"};
  app.set_version_flag("--version", ZENITH_STUDY_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
  int status = succeeded;
  add_top_k(app, status);
  add_pack(app, status);
  add_skyline(app, status);
  add_threshold(app, status);
  add_spatial_join(app, status);
  add_decide(app, status);
  add_calibrate(app, status);
  add_doctor(app, status);
  try {
    app.parse(argc, argv);
    return status;
  } catch (const CLI::ParseError& fault) {
    if (fault.get_exit_code() == 0) return app.exit(fault);
    fmt::print(stderr, "zenith-study: {}\nzenith-study {} --help explains the options\n", fault.what(),
               app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name());
    return wrong_usage;
  } catch (const std::exception& fault) {
    fmt::print(stderr, "zenith-study: {}\n", fault.what());
    return failed_run;
  }
}
