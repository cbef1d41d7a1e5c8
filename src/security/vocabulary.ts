/** The vocabularies of WS-Security: namespaces, names of elements and attributes, and the URIs that types go by. */
import { name } from '../xml/index.ts'

export { security as Security, wsuId } from '../soap/security-port.ts'

const oasis = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-'
const oasis11 = 'http://docs.oasis-open.org/wss/oasis-wss-'

export const wsse = `${oasis}wssecurity-secext-1.0.xsd`
export const wsse11 = `${oasis11}wssecurity-secext-1.1.xsd`
export const wsu = `${oasis}wssecurity-utility-1.0.xsd`
export const ds = 'http://www.w3.org/2000/09/xmldsig#'
export const dsig11 = 'http://www.w3.org/2009/xmldsig11#'
export const xenc = 'http://www.w3.org/2001/04/xmlenc#'
export const xenc11 = 'http://www.w3.org/2009/xmlenc11#'
export const exclusiveUri = 'http://www.w3.org/2001/10/xml-exc-c14n#'
export const saml1 = 'urn:oasis:names:tc:SAML:1.0:assertion'
export const saml2 = 'urn:oasis:names:tc:SAML:2.0:assertion'
export const xop = 'http://www.w3.org/2004/08/xop/include'

// WSS SOAP Message Security 1.1
export const BinarySecurityToken = name(wsse, 'BinarySecurityToken')
export const SecurityTokenReference = name(wsse, 'SecurityTokenReference')
export const TransformationParameters = name(wsse, 'TransformationParameters')
export const TokenReference = name(wsse, 'Reference')
export const KeyIdentifier = name(wsse, 'KeyIdentifier')
export const Embedded = name(wsse, 'Embedded')
export const UsernameToken = name(wsse, 'UsernameToken')
export const Username = name(wsse, 'Username')
export const Password = name(wsse, 'Password')
export const Nonce = name(wsse, 'Nonce')
export const SignatureConfirmation = name(wsse11, 'SignatureConfirmation')
export const EncryptedHeader = name(wsse11, 'EncryptedHeader')
export const Timestamp = name(wsu, 'Timestamp')
export const Created = name(wsu, 'Created')
export const Expires = name(wsu, 'Expires')

// XML Signature
export const Signature = name(ds, 'Signature')
export const SignedInfo = name(ds, 'SignedInfo')
export const SignatureValue = name(ds, 'SignatureValue')
export const KeyInfo = name(ds, 'KeyInfo')
export const SignatureObject = name(ds, 'Object')
export const CanonicalizationMethod = name(ds, 'CanonicalizationMethod')
export const SignatureMethod = name(ds, 'SignatureMethod')
export const Reference = name(ds, 'Reference')
export const Transforms = name(ds, 'Transforms')
export const Transform = name(ds, 'Transform')
export const DigestMethod = name(ds, 'DigestMethod')
export const DigestValue = name(ds, 'DigestValue')
export const InclusiveNamespaces = name(exclusiveUri, 'InclusiveNamespaces')
export const KeyName = name(ds, 'KeyName')
export const KeyValue = name(ds, 'KeyValue')
export const RSAKeyValue = name(ds, 'RSAKeyValue')
export const Modulus = name(ds, 'Modulus')
export const Exponent = name(ds, 'Exponent')
export const ECKeyValue = name(dsig11, 'ECKeyValue')
export const NamedCurve = name(dsig11, 'NamedCurve')
export const PublicKey = name(dsig11, 'PublicKey')
export const X509Data = name(ds, 'X509Data')
export const X509Certificate = name(ds, 'X509Certificate')
export const X509IssuerSerial = name(ds, 'X509IssuerSerial')
export const X509IssuerName = name(ds, 'X509IssuerName')
export const X509SerialNumber = name(ds, 'X509SerialNumber')
export const X509SKI = name(ds, 'X509SKI')

// XML Encryption
export const EncryptedKey = name(xenc, 'EncryptedKey')
export const EncryptedData = name(xenc, 'EncryptedData')
export const EncryptionMethod = name(xenc, 'EncryptionMethod')
export const CipherData = name(xenc, 'CipherData')
export const CipherValue = name(xenc, 'CipherValue')
export const CipherReference = name(xenc, 'CipherReference')
export const CipherTransforms = name(xenc, 'Transforms')
export const ReferenceList = name(xenc, 'ReferenceList')
export const DataReference = name(xenc, 'DataReference')
export const OAEPparams = name(xenc, 'OAEPparams')
export const MGF = name(xenc11, 'MGF')

// Attributes
export const xmlId = name('http://www.w3.org/XML/1998/namespace', 'id')
export const Id = name('', 'Id')
export const ID = name('', 'ID')
export const AssertionID = name('', 'AssertionID')
export const URI = name('', 'URI')
export const Type = name('', 'Type')
export const Algorithm = name('', 'Algorithm')
export const ValueType = name('', 'ValueType')
export const EncodingType = name('', 'EncodingType')
export const PrefixList = name('', 'PrefixList')
export const Value = name('', 'Value')
export const href = name('', 'href')
export const Include = name(xop, 'Include')

// Types of tokens and of what refers to them
export const base64Type = `${oasis}soap-message-security-1.0#Base64Binary`
export const strTransform = `${oasis}soap-message-security-1.0#STR-Transform`
export const x509v3 = `${oasis}x509-token-profile-1.0#X509v3`
export const x509Path = `${oasis}x509-token-profile-1.0#X509PKIPathv1`
export const keyIdentifierSki = `${oasis}x509-token-profile-1.0#X509SubjectKeyIdentifier`
export const keyIdentifierThumbprint = `${oasis11}soap-message-security-1.1#ThumbprintSHA1`
export const keyIdentifierEncryptedKey = `${oasis11}soap-message-security-1.1#EncryptedKeySHA1`
export const encryptedKeyType = `${oasis11}soap-message-security-1.1#EncryptedKey`
export const passwordText = `${oasis}username-token-profile-1.0#PasswordText`
export const passwordDigest = `${oasis}username-token-profile-1.0#PasswordDigest`
export const saml1Id = `${oasis11}saml-token-profile-1.0#SAMLAssertionID`
export const saml2Id = `${oasis11}saml-token-profile-1.1#SAMLID`
export const saml1Type = `${oasis11}saml-token-profile-1.1#SAMLV1.1`
export const saml2Type = `${oasis11}saml-token-profile-1.1#SAMLV2.0`
/** Kerberos Token Profile 1.1 §3.2: an AP-REQ, bare or in the GSS-API framing, by how it is meant. */
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
export const gssKerberos = `${oasis11}kerberos-token-profile-1.1#GSS_Kerberosv5_AP_REQ`
/** SwA Profile 1.1 §5. */
export const attachmentContent = `${oasis11}SwAProfile-1.1#Attachment-Content-Signature-Transform`
export const attachmentComplete = `${oasis11}SwAProfile-1.1#Attachment-Complete-Signature-Transform`
export const attachmentCiphertext = `${oasis11}SwAProfile-1.1#Attachment-Ciphertext-Transform`
export const attachmentContentOnly = `${oasis11}SwAProfile-1.1#Attachment-Content-Only`
