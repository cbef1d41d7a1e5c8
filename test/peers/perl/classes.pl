# classes.pl WSDL FOLDER: the classes that SOAP::WSDL makes of a WSDL.
use strict;
use warnings;
use LWP::UserAgent;
use SOAP::WSDL::Expat::WSDLParser;
use SOAP::WSDL::Factory::Generator;

my ($wsdl, $folder) = @ARGV;
local $SIG{__WARN__} = sub { warn @_ unless $_[0] =~ /unrecognised attribute/ };
my $definitions = SOAP::WSDL::Expat::WSDLParser->new({user_agent => LWP::UserAgent->new})->parse_uri("file://$wsdl");
my $generator = SOAP::WSDL::Factory::Generator->get_generator({type => 'XSD'});
for (qw(attribute type typemap element interface server)) {
    my $set = "set_${_}_prefix";
    $generator->$set("Stubs::$_") if $generator->can($set);
}
$generator->set_OUTPUT_PATH($folder);
$generator->set_silent(1);
$generator->set_definitions($definitions);
$generator->generate();
$generator->generate_interface({NO_POD => 1}); # its documentation fails at an operation without output
