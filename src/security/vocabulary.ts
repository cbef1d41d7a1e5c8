/**
 * The vocabularies of WS-Security: namespaces, names of elements and attributes, and URIs of types.
 */
import { internName } from '../xml/index.ts'

export {
  encryptedHeaderName as EncryptedHeaderName,
  securityName as SecurityName,
  wsuId,
} from '../soap/security-port.ts'

const oasis = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-'
const oasis11 = 'http://docs.oasis-open.org/wss/oasis-wss-'

export const wsseNs = `${oasis}wssecurity-secext-1.0.xsd`
export const wsse11Ns = `${oasis11}wssecurity-secext-1.1.xsd`
export const wsuNs = `${oasis}wssecurity-utility-1.0.xsd`
export const dsNs = 'http://www.w3.org/2000/09/xmldsig#'
export const dsig11Ns = 'http://www.w3.org/2009/xmldsig11#'
export const xencNs = 'http://www.w3.org/2001/04/xmlenc#'
export const xenc11Ns = 'http://www.w3.org/2009/xmlenc11#'
export const exclusiveC14nNs = 'http://www.w3.org/2001/10/xml-exc-c14n#'
export const secureConversationNs = 'http://docs.oasis-open.org/ws-sx/ws-secureconversation/200512'
export const saml1Ns = 'urn:oasis:names:tc:SAML:1.0:assertion'
export const saml2Ns = 'urn:oasis:names:tc:SAML:2.0:assertion'
const xopNs = 'http://www.w3.org/2004/08/xop/include'

// WSS SOAP Message Security 1.1
export const BinarySecurityTokenName = internName(wsseNs, 'BinarySecurityToken')
export const SecurityTokenReferenceName = internName(wsseNs, 'SecurityTokenReference')
export const TransformationParametersName = internName(wsseNs, 'TransformationParameters')
export const TokenReferenceName = internName(wsseNs, 'Reference')
export const KeyIdentifierName = internName(wsseNs, 'KeyIdentifier')
export const EmbeddedName = internName(wsseNs, 'Embedded')
export const UsernameTokenName = internName(wsseNs, 'UsernameToken')
export const UsernameName = internName(wsseNs, 'Username')
export const PasswordName = internName(wsseNs, 'Password')
export const NonceName = internName(wsseNs, 'Nonce')
export const SignatureConfirmationName = internName(wsse11Ns, 'SignatureConfirmation')
export const TimestampName = internName(wsuNs, 'Timestamp')
export const CreatedName = internName(wsuNs, 'Created')
export const ExpiresName = internName(wsuNs, 'Expires')

// WS-SecureConversation 1.3 §7.1
export const DerivedKeyTokenName = internName(secureConversationNs, 'DerivedKeyToken')
export const GenerationName = internName(secureConversationNs, 'Generation')
export const OffsetName = internName(secureConversationNs, 'Offset')
export const LengthName = internName(secureConversationNs, 'Length')
export const LabelName = internName(secureConversationNs, 'Label')
export const DerivedNonceName = internName(secureConversationNs, 'Nonce')

// XML Signature
export const SignatureName = internName(dsNs, 'Signature')
export const SignedInfoName = internName(dsNs, 'SignedInfo')
export const SignatureValueName = internName(dsNs, 'SignatureValue')
export const KeyInfoName = internName(dsNs, 'KeyInfo')
export const SignatureObjectName = internName(dsNs, 'Object')
export const CanonicalizationMethodName = internName(dsNs, 'CanonicalizationMethod')
export const SignatureMethodName = internName(dsNs, 'SignatureMethod')
export const ReferenceName = internName(dsNs, 'Reference')
export const TransformsName = internName(dsNs, 'Transforms')
export const TransformName = internName(dsNs, 'Transform')
export const DigestMethodName = internName(dsNs, 'DigestMethod')
export const DigestValueName = internName(dsNs, 'DigestValue')
export const InclusiveNamespacesName = internName(exclusiveC14nNs, 'InclusiveNamespaces')
export const KeyNameName = internName(dsNs, 'KeyName')
export const KeyValueName = internName(dsNs, 'KeyValue')
export const RSAKeyValueName = internName(dsNs, 'RSAKeyValue')
export const ModulusName = internName(dsNs, 'Modulus')
export const ExponentName = internName(dsNs, 'Exponent')
export const ECKeyValueName = internName(dsig11Ns, 'ECKeyValue')
export const NamedCurveName = internName(dsig11Ns, 'NamedCurve')
export const PublicKeyName = internName(dsig11Ns, 'PublicKey')
export const DEREncodedKeyValueName = internName(dsig11Ns, 'DEREncodedKeyValue')
export const X509DataName = internName(dsNs, 'X509Data')
export const X509CertificateName = internName(dsNs, 'X509Certificate')
export const X509IssuerSerialName = internName(dsNs, 'X509IssuerSerial')
export const X509IssuerNameName = internName(dsNs, 'X509IssuerName')
export const X509SerialNumberName = internName(dsNs, 'X509SerialNumber')
export const X509SKIName = internName(dsNs, 'X509SKI')
export const X509SubjectNameName = internName(dsNs, 'X509SubjectName')
export const X509CRLName = internName(dsNs, 'X509CRL')
export const X509DigestName = internName(dsig11Ns, 'X509Digest')

// XML Encryption
export const EncryptedKeyName = internName(xencNs, 'EncryptedKey')
export const EncryptedDataName = internName(xencNs, 'EncryptedData')
export const EncryptionMethodName = internName(xencNs, 'EncryptionMethod')
export const KeySizeName = internName(xencNs, 'KeySize')
export const CipherDataName = internName(xencNs, 'CipherData')
export const CipherValueName = internName(xencNs, 'CipherValue')
export const CipherReferenceName = internName(xencNs, 'CipherReference')
export const CipherTransformsName = internName(xencNs, 'Transforms')
export const ReferenceListName = internName(xencNs, 'ReferenceList')
export const DataReferenceName = internName(xencNs, 'DataReference')
export const OAEPparamsName = internName(xencNs, 'OAEPparams')
export const MGFName = internName(xenc11Ns, 'MGF')
export const AgreementMethodName = internName(xencNs, 'AgreementMethod')
export const OriginatorKeyInfoName = internName(xencNs, 'OriginatorKeyInfo')
export const RecipientKeyInfoName = internName(xencNs, 'RecipientKeyInfo')
export const KeyDerivationMethodName = internName(xenc11Ns, 'KeyDerivationMethod')
export const ConcatKDFParamsName = internName(xenc11Ns, 'ConcatKDFParams')

// Attributes
export const xmlIdAttribute = internName('http://www.w3.org/XML/1998/namespace', 'id')
export const idAttribute = internName('', 'Id')
export const upperIdAttribute = internName('', 'ID')
export const assertionIdAttribute = internName('', 'AssertionID')
export const uriAttribute = internName('', 'URI')
export const typeAttribute = internName('', 'Type')
export const mimeTypeAttribute = internName('', 'MimeType')
export const algorithmAttribute = internName('', 'Algorithm')
/** WSS4J writes the attribute of a DerivedKeyToken with a namespace, the schema without one. */
export const derivationAttribute = internName(secureConversationNs, 'Algorithm')
/** XML Encryption 1.1 §5.4.1: in the order in which a key is derived by them. */
export const concatAttributes = ['AlgorithmID', 'PartyUInfo', 'PartyVInfo', 'SuppPubInfo', 'SuppPrivInfo'].map(local =>
  internName('', local),
)
export const valueTypeAttribute = internName('', 'ValueType')
export const encodingTypeAttribute = internName('', 'EncodingType')
export const prefixListAttribute = internName('', 'PrefixList')
export const valueAttribute = internName('', 'Value')
export const hrefAttribute = internName('', 'href')
export const IncludeName = internName(xopNs, 'Include')

// Types of tokens and of references to them
export const base64TypeUri = `${oasis}soap-message-security-1.0#Base64Binary`
export const strTransformUri = `${oasis}soap-message-security-1.0#STR-Transform`
export const x509v3Uri = `${oasis}x509-token-profile-1.0#X509v3`
export const x509PathUri = `${oasis}x509-token-profile-1.0#X509PKIPathv1`
export const keyIdentifierSkiUri = `${oasis}x509-token-profile-1.0#X509SubjectKeyIdentifier`
export const keyIdentifierThumbprintUri = `${oasis11}soap-message-security-1.1#ThumbprintSHA1`
export const keyIdentifierEncryptedKeyUri = `${oasis11}soap-message-security-1.1#EncryptedKeySHA1`
export const encryptedKeyTypeUri = `${oasis11}soap-message-security-1.1#EncryptedKey`
export const derivedKeyTypeUri = `${secureConversationNs}/dk`
export const derivationUri = `${derivedKeyTypeUri}/p_sha1`
/** XML Encryption 1.1 §5.6.4, §5.4.1. */
export const agreementUri = `${xenc11Ns}ECDH-ES`
export const concatUri = `${xenc11Ns}ConcatKDF`
export const passwordTextUri = `${oasis}username-token-profile-1.0#PasswordText`
export const passwordDigestUri = `${oasis}username-token-profile-1.0#PasswordDigest`
export const saml1IdUri = `${oasis11}saml-token-profile-1.0#SAMLAssertionID`
export const saml2IdUri = `${oasis11}saml-token-profile-1.1#SAMLID`
export const saml1TypeUri = `${oasis11}saml-token-profile-1.1#SAMLV1.1`
export const saml2TypeUri = `${oasis11}saml-token-profile-1.1#SAMLV2.0`
/** Kerberos Token Profile 1.1 §3.2: an AP-REQ, bare or in the GSS-API framing. */
export const kerberosTypes: ReadonlySet<string> = new Set(
  [
    'Kerberosv5_AP_REQ',
    'GSS_Kerberosv5_AP_REQ',
    'Kerberosv5_AP_REQ1510',
    'GSS_Kerberosv5_AP_REQ1510',
    'Kerberosv5_AP_REQ4120',
    'GSS_Kerberosv5_AP_REQ4120',
  ].map(type => `${oasis11}kerberos-token-profile-1.1#${type}`),
)
export const gssKerberosUri = `${oasis11}kerberos-token-profile-1.1#GSS_Kerberosv5_AP_REQ`
/** SwA Profile 1.1 §5. */
export const attachmentContentUri = `${oasis11}SwAProfile-1.1#Attachment-Content-Signature-Transform`
export const attachmentCompleteUri = `${oasis11}SwAProfile-1.1#Attachment-Complete-Signature-Transform`
/** §5.5.2: an attachment is encrypted as content alone, or with its fields. */
export const encryptedContentUri = `${oasis11}SwAProfile-1.1#Attachment-Content-Only`
export const encryptedCompleteUri = `${oasis11}SwAProfile-1.1#Attachment-Complete`
export const attachmentCiphertextUri = `${oasis11}SwAProfile-1.1#Attachment-Ciphertext-Transform`
