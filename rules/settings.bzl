"""Build settings, set as `--//rules:NAME=VALUE` (`--@fatcrate//rules:NAME=VALUE` elsewhere)."""

SettingInfo = provider(
    doc = "Value of a build setting.",
    fields = {"value": "string: the value; empty where the setting was left alone"},
)

# What a setting is in the configuration of device crates when it does not concern them:
# neither the default nor a value that a user can give. See private/transition.bzl.
UNUSED = "unused"

def _setting_impl(ctx):
    value = ctx.build_setting_value
    allowed = ctx.attr.values
    if value != UNUSED and allowed and value not in allowed:
        fail("{}: {} is not a value of this setting; choose from: {}".format(
            ctx.label,
            repr(value),
            ", ".join([repr(v) for v in allowed]),
        ))
    return [SettingInfo(value = value)]

string_setting = rule(
    implementation = _setting_impl,
    doc = "A build setting that holds a string.",
    attrs = {
        "values": attr.string_list(doc = "Allowed values; any where empty."),
    },
    build_setting = config.string(flag = True),
)
